import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { describePostgres, makeDatabase } from '../support/postgres.ts';
import { makePlace, startServer } from '../support/server.ts';

/** The tests beside this one, and those of test/fault, run twice: on SQLite, and in the project `postgres` of vitest.config.ts on PostgreSQL. */
describePostgres('end-to-end tests on PostgreSQL', () => {
  test('a server that is told to use a database server fills that, and makes no file', async () => {
    expect(inject('postgres')).not.toBeNull();
    const place = makePlace();
    const database = await makeDatabase();
    const server = await startServer(place, { SLUICE_DATABASE_URL: database.url });
    expect(await database.query('select generation::int from t_ds_master')).toEqual([{ generation: 1 }]);
    expect(existsSync(join(place.data, 'sluice.db'))).toBe(false);
    await server.kill('SIGTERM');
    await database.drop();
  });
});
