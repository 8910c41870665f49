import { describe, expect, test } from 'vitest';
import { languageNamed, languageOf, languageWanted } from '../../../src/api/http/language.ts';

describe('languages', () => {
  test.each([
    ['zh', 'zh-CN'],
    ['ZH-cn', 'zh-CN'],
    ['zh_CN.UTF-8', 'zh-CN'],
    ['zh-Hans-CN', 'zh-CN'],
    ['zh-TW', 'zh-CN'],
    ['cmn-Hans', 'zh-CN'],
    ['en', 'en'],
    ['EN-us', 'en'],
    ['en_GB@euro', 'en'],
    [' en ', 'en'],
    ['zhuang', undefined],
    ['enm', undefined],
    ['fr', undefined],
    ['*', undefined],
    ['', undefined],
  ])('%j is %s', (name, language) => {
    expect(languageNamed(name)).toBe(language);
  });

  test.each([
    [undefined, 'en'],
    ['', 'en'],
    ['*', 'en'],
    ['fr, zh-CN;q=0.9, en;q=0.8', 'zh-CN'],
    ['en;q=0.3,zh;q=0.7', 'zh-CN'],
    ['zh;q=0, en;q=0.1', 'en'],
    ['zh;q=0', 'en'],
    ['zh, en', 'zh-CN'],
    ['en, zh', 'en'],
    ['zh ; Q=0.5, en', 'en'],
    ['zh;q=much, en;q=0.1', 'en'],
  ])('Accept-Language %j wants %s', (header, language) => {
    expect(languageWanted(header)).toBe(language);
  });

  test('the address goes before the browser, the last of several', () => {
    expect(languageOf('zh_CN', 'en')).toBe('zh-CN');
    expect(languageOf('tlh', 'zh')).toBe('en');
    expect(languageOf(['en', 'zh'], undefined)).toBe('zh-CN');
    for (const nothing of [undefined, '', ' ']) expect(languageOf(nothing, 'zh')).toBe('zh-CN');
  });
});
