import { readFileSync } from 'node:fs';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** The version of this package: package.json lies two folders above both src/cli and dist/cli. */
export const VERSION: string = version;
