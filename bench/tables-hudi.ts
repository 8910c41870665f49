import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { put, type TableWriter } from './table-writer.ts';

const PROPERTIES = `#Properties saved on 2026-01-01T00:00:00.000Z
#Thu Jan 01 00:00:00 UTC 2026
hoodie.table.name=t
hoodie.table.type=COPY_ON_WRITE
hoodie.table.version=6
hoodie.timeline.layout.version=1
hoodie.archivelog.folder=archived
hoodie.table.base.file.format=PARQUET
hoodie.table.recordkey.fields=id
hoodie.table.timeline.timezone=UTC
`;

const SCHEMA = JSON.stringify({
  type: 'record',
  name: 't_record',
  namespace: 'hoodie.t',
  fields: ['id', 'amount'].map((name) => ({ name, type: ['null', 'long'], default: null })),
});

/** Commit `id` was requested so many seconds after the first. */
const START = Date.UTC(2026, 0, 1);

const timeOf = (id: number): string => new Date(START + id * 1000).toISOString().replace(/\D/g, '').slice(0, 17);

const metadata = (time: string): string =>
  JSON.stringify({
    partitionToWriteStats: {
      '': [
        {
          fileId: `${crypto.randomUUID()}-0`,
          path: `f-0_0-0-0_${time}.parquet`,
          prevCommit: 'null',
          numWrites: 3,
          numDeletes: 0,
          numUpdateWrites: 0,
          numInserts: 3,
          totalWriteBytes: 435_286,
          totalWriteErrors: 0,
          partitionPath: '',
          fileSizeInBytes: 435_286,
          minEventTime: null,
          maxEventTime: null,
        },
      ],
    },
    compacted: false,
    extraMetadata: { schema: SCHEMA },
    operationType: 'INSERT',
  });

/** A Copy-on-Write table of Hudi 0.15: each commit inserts three rows and leaves its three files in the timeline. */
export const hudiWriter = (): TableWriter => {
  const commit = (folder: string, id: number): void => {
    const time = timeOf(id);
    const timeline = join(folder, '.hoodie');
    for (const name of [`${time}.commit.requested`, `${time}.inflight`]) writeFileSync(join(timeline, name), '');
    put(join(timeline, `${time}.commit`), metadata(time));
  };
  return {
    create(folder) {
      mkdirSync(join(folder, '.hoodie'), { recursive: true });
      put(join(folder, '.hoodie/hoodie.properties'), PROPERTIES);
      commit(folder, 1);
    },
    commit,
    nameOf: timeOf,
    // Instants complete in any order, so that no single file tells: the folder is what a reader asks for.
    probe: (folder) => join(folder, '.hoodie'),
  };
};
