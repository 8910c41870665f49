// npm run generate: writes the committed files that are derived from code; `-- --check` only says which of them are out of date.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { applyFileSchema } from '../src/api/contract/apply-file.ts';
import { configPage } from '../src/config/reference.ts';
import { ERRORS } from '../src/core/errors.ts';
import { postgresSchemaDump, sqliteSchemaDump } from '../src/store/dump.ts';
import { PROJECT } from './run.ts';

/** File → its text. A generated file is one row here; the text must depend on the code alone (no time, no machine). */
const GENERATED: Readonly<Record<string, () => string | Promise<string>>> = {
  'docs/reference/apply.schema.json': applyFileSchema,
  'docs/reference/config.md': configPage,
  'docs/reference/errors.md': errorPage,
  'src/store/snapshots/postgres.sql': postgresSchemaDump,
  'src/store/snapshots/sqlite.sql': sqliteSchemaDump,
};

function errorPage(): string {
  const row = ([code, { status, title }]: [string, { status: number; title: string }]): string =>
    `| <a id="${code.toLowerCase()}"></a>\`${code}\` | ${status} | ${title} |`;
  return [
    '# Error codes',
    '',
    '<!-- Written by `npm run generate` from src/core/errors.ts: edit that file. -->',
    '',
    'Each problem carries one of these codes and, beside it, a sentence of its own that says what to do. The HTTP API answers with the',
    "status given here and the code in the problem document's `code`; the command line prints the sentence and exits with 1, or with 2 if the",
    'command itself was wrong.',
    '',
    '| code | HTTP status | what it means |',
    '|---|---|---|',
    ...Object.entries(ERRORS).map(row),
    '',
  ].join('\n');
}

const checking = process.argv.includes('--check');
let outdated = 0;
for (const [path, make] of Object.entries(GENERATED)) {
  const file = join(PROJECT, path);
  const text = await make();
  if (existsSync(file) && readFileSync(file, 'utf8') === text) continue;
  outdated += 1;
  console.log(checking ? `${path} is out of date: run npm run generate and commit it.` : `${path} written`);
  if (checking) continue;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
process.exit(checking && outdated > 0 ? 1 : 0);
