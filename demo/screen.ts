/** What the terminal shows. Colour only where somebody looks and nobody said NO_COLOR. */
const COLOUR = process.stdout.isTTY && process.env['NO_COLOR'] === undefined;
const paint =
  (code: string) =>
  (text: string): string =>
    COLOUR ? `\u001b[${code}m${text}\u001b[0m` : text;

export const dim = paint('2');
export const bold = paint('1');
export const green = paint('32');
export const red = paint('31');
export const yellow = paint('33');
export const cyan = paint('36');

const started = performance.now();
const clock = (): string => dim(`${((performance.now() - started) / 1000).toFixed(1).padStart(5)} s `);

/** One line: when, who, what. */
export const line = (who: string, what: string): void => {
  console.log(`${clock()} ${who.padEnd(9)} ${what}`);
};

export const title = (text: string): void => {
  console.log(`\n${bold(text)}`);
};

/** `ods_order_latest` of `paimon://ods_db/ods_order_latest`. */
export const tableOf = (assetKey: string): string => assetKey.slice(assetKey.lastIndexOf('/') + 1);

/** Columns as wide as their widest cell; the last columns of numbers may be right-aligned. */
export const table = (
  head: readonly string[],
  rows: readonly (readonly string[])[],
  right: readonly number[] = [],
): void => {
  const widths = head.map((name, column) => Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const cells = (row: readonly string[]): string =>
    row
      .map((cell, column) =>
        right.includes(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join('  ');
  console.log(dim(cells(head)));
  for (const row of rows) console.log(cells(row));
};
