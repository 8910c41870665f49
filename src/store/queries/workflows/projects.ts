import { SluiceError } from '../../../core/errors.ts';
import type { Row } from '../../database.ts';
import type { Tx, View } from '../../engine.ts';

/** Finds a project by its name or, where a number is given, its code. Throws NOT_FOUND. */
export const findProject = async (view: View, nameOrCode: string): Promise<Row<'t_ds_project'>> => {
  const all = view.db.selectFrom('t_ds_project').selectAll();
  const query = isCode(nameOrCode) ? all.where('code', '=', BigInt(nameOrCode)) : all.where('name', '=', nameOrCode);
  const project = await query.executeTakeFirst();
  if (project !== undefined) return project;
  throw new SluiceError(
    'NOT_FOUND',
    `There is no project ${nameOrCode}: list the projects, or apply a file that declares it.`,
  );
};

/** A number below 2^53 in text means a code; names are never numbers. */
export const isCode = (nameOrCode: string): boolean => /^\d{1,15}$/.test(nameOrCode);

/** The project of this name, made if there is none. */
export const ensureProject = async (tx: Tx, name: string): Promise<Row<'t_ds_project'>> => {
  const find = () => tx.db.selectFrom('t_ds_project').selectAll().where('name', '=', name);
  const known = await find().executeTakeFirst();
  if (known !== undefined) return known;
  const code = await nextCode(tx, 'project');
  await tx.db.insertInto('t_ds_project').values({ code, name, create_time: tx.now, update_time: tx.now }).execute();
  return find().executeTakeFirstOrThrow();
};

/** The next small code of its kind: 1, 2, 3 … */
export const nextCode = async (tx: Tx, kind: 'project' | 'workflow' | 'task'): Promise<bigint> => {
  await tx.dialect.insertIgnore(tx.db, 't_ds_code_sequence', [{ name: kind, next_code: 1n }]);
  await tx.db
    .updateTable('t_ds_code_sequence')
    .set((e) => ({ next_code: e('next_code', '+', 1n) }))
    .where('name', '=', kind)
    .execute();
  const row = await tx.db
    .selectFrom('t_ds_code_sequence')
    .select('next_code')
    .where('name', '=', kind)
    .executeTakeFirstOrThrow();
  return row.next_code - 1n;
};
