/** The first few of a list, and how many more. */
export const brief = (items: readonly string[]): string =>
  items.length <= 5 ? items.join(', ') : `${items.slice(0, 5).join(', ')} and ${items.length - 5} more`;
