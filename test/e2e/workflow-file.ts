import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Place } from '../support/server.ts';

export const ORDERS = 'paimon://ods_db/ods_order_latest';
export const PAYMENTS = 'paimon://ods_db/ods_payment_latest';

const TABLES: Readonly<Record<string, string>> = {
  [ORDERS]: 'ods_db.db/ods_order_latest',
  [PAYMENTS]: 'ods_db.db/ods_payment_latest',
};

export const tableFolder = ({ warehouse }: Place, key: string): string => join(warehouse, TABLES[key] ?? '');

/** The two recorded tables, as assets of a declaration. */
export const assetsOf = (place: Place) => [ORDERS, PAYMENTS].map((key) => ({ key, location: tableFolder(place, key) }));

export const onOrders = [{ group: 'new_orders', all: [{ assetKey: ORDERS, alias: 'orders' }] }];
export const onPayments = [{ group: 'new_payments', all: [{ assetKey: PAYMENTS, alias: 'payments' }] }];

export const shell = (rawScript: string) => ({ params: { rawScript } });

/** Writes an apply file (JSON is YAML) of the project `e2e` into the place's folder; returns its name there. */
export function writeDeclaration(place: Place, declared: object, name = 'work.yaml'): string {
  writeFileSync(join(place.folder, name), JSON.stringify({ apiVersion: 'sluice/v1', project: 'e2e', ...declared }));
  return name;
}
