/** What stands in a log or a printed configuration in place of a secret. */
const MASK = '***';

const SECRET_NAME =
  /pass(word|wd|phrase)?$|secret|token$|authorization|credential|cookie|(api|access|private)[-_]?key$/i;
const URL_PASSWORD = /\b([a-z][a-z0-9+.-]*:\/\/[^\s/:@]*):[^\s/@]+@/gi;
const QUERY_PASSWORD = /([?&](?:ssl)?password=)[^\s&#]+/gi;
const BEARER = /\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{8,}/g;

/** Does a field of this name hold a secret? */
const isSecretName = (name: string): boolean => SECRET_NAME.test(name);

/** The text without passwords of URLs, credentials of HTTP headers and the given secrets themselves. */
export function maskText(text: string, secrets: readonly string[] = []): string {
  const masked = text
    .replace(URL_PASSWORD, `$1:${MASK}@`)
    .replace(QUERY_PASSWORD, `$1${MASK}`)
    .replace(BEARER, `$1 ${MASK}`);
  return secrets.reduce((kept, secret) => (secret === '' ? kept : kept.replaceAll(secret, MASK)), masked);
}

/** The value as JSON can hold it, without secrets at any depth: bigint as text, an Error as its name, message, code and stack. */
export function maskValue(value: unknown, secrets: readonly string[] = [], depth = 0): unknown {
  if (typeof value === 'string') return maskText(value, secrets);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= 6) return '[deeper]'; // also ends a circle
  const inside = (inner: unknown): unknown => maskValue(inner, secrets, depth + 1);
  if (Array.isArray(value)) return value.map(inside);
  if (value instanceof Date) return value.toISOString();
  const entries = value instanceof Error ? errorFields(value) : Object.entries(value);
  return Object.fromEntries(entries.map(([name, inner]) => [name, isSecretName(name) ? MASK : inside(inner)]));
}

function errorFields(error: Error): [string, unknown][] {
  const fields: [string, unknown][] = [
    ['name', error.name],
    ['code', 'code' in error ? error.code : undefined],
    ['message', error.message],
    ['stack', error.stack],
    ['cause', error.cause],
  ];
  return fields.filter(([, value]) => value !== undefined);
}
