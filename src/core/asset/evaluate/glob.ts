/**
 * Does the whole text match the pattern? `*` stands for any characters, `?` for one; everything else, letter case included, for itself.
 * Takes at most text × pattern steps, whatever the pattern.
 */
export const matchesGlob = (text: string, pattern: string): boolean => {
  const chars = [...text];
  const wanted = [...pattern];
  let at = 0;
  let next = 0;
  let star = -1;
  let resume = 0;
  while (at < chars.length) {
    if (wanted[next] === '*') {
      star = next++;
      resume = at;
    } else if (next < wanted.length && (wanted[next] === '?' || wanted[next] === chars[at])) {
      at++;
      next++;
    } else if (star >= 0) {
      next = star + 1;
      at = ++resume;
    } else return false;
  }
  return wanted.slice(next).every((char) => char === '*');
};
