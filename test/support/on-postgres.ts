import { postgresServer } from './postgres.ts';
import { usePostgres } from './postgres-sync.ts';

/** Before each file of the second run of the end-to-end tests. */
const { url, bin } = await postgresServer();
usePostgres(url, bin);
