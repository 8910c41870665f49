import { randomBytes } from 'node:crypto';

/** A random name of `bytes` bytes in lower-case hex (default 16 bytes, 32 characters): trace ids, lease holders, tokens. */
export const nonce = (bytes = 16): string => randomBytes(bytes).toString('hex');
