import { renameSync, writeFileSync } from 'node:fs';

/** Writes tables of one format as an engine would. */
export interface TableWriter {
  /** A table with its first commit. */
  create(folder: string): void;
  /** The next commit: `id` is one more than the last; a commit of new data each time. */
  commit(folder: string, id: number): void;
  /** What the format calls the commit. */
  nameOf(id: number): string;
  /** The file that tells a reader whether there is a commit after `id`: what a poll at rest cannot do without. */
  probe(folder: string, id: number): string;
}

/** Writes a file whole or not at all. */
export const put = (file: string, text: string): void => {
  writeFileSync(`${file}.part`, text);
  renameSync(`${file}.part`, file);
};
