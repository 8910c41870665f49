import { createHash } from 'node:crypto';

/**
 * The first `length` characters, 6 bits each, of a SHA-256. 12 are enough to tell the few bodies apart that one file ever has, and short enough
 * to remember many.
 */
export const fingerprint = (body: Uint8Array | string, length = 12): string =>
  createHash('sha256').update(body).digest('base64url').slice(0, length);
