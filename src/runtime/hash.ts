import { hash } from 'node:crypto';

/** SHA-256 of the text's UTF-8 bytes (or of the bytes), in lower-case hex: 64 characters. */
export const sha256 = (data: string | Uint8Array): string => hash('sha256', data, 'hex');
