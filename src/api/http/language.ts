import type { Language } from '../docs/words.ts';

/** The language that a name means, however it is spelt: `zh`, `zh-Hans`, `zh_CN`, `ZH-cn`, `en-US`, `en_GB.UTF-8`; undefined: none of ours. */
export const languageNamed = (name: string): Language | undefined => {
  const [primary] = name
    .trim()
    .toLowerCase()
    .split(/[-_.@]/);
  if (primary === 'zh' || primary === 'cmn') return 'zh-CN';
  return primary === 'en' ? 'en' : undefined;
};

/** Of the languages of an Accept-Language header (RFC 9110, 12.5.4) the one of ours that is wanted most; English where none is. */
export const languageWanted = (header: string | undefined): Language => {
  const wanted = (header ?? '').split(',').map((range) => {
    const [name = '', ...parameters] = range.split(';').map((part) => part.trim());
    const weight = parameters.find((one) => /^q=/i.test(one));
    return { language: languageNamed(name), weight: weight === undefined ? 1 : Number(weight.slice(2)) || 0 };
  });
  const [most] = wanted
    .filter(({ language, weight }) => language !== undefined && weight > 0)
    .sort((a, b) => b.weight - a.weight);
  return most?.language ?? 'en';
};

/** The language of an answer: as the address asks (`?lang=`), English where that is none of ours; without it, as the browser does. */
export const languageOf = (asked: unknown, header: string | undefined): Language => {
  const name: unknown = [asked].flat().at(-1);
  return typeof name === 'string' && name.trim() !== '' ? (languageNamed(name) ?? 'en') : languageWanted(header);
};
