import { createHash } from 'node:crypto';

/** 72 bits of SHA-256: enough to tell the few bodies that one file ever has apart, short enough to remember. */
export const fingerprint = (body: Uint8Array | string): string =>
  createHash('sha256').update(body).digest('base64url').slice(0, 12);
