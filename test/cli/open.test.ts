import { describe, expect, test } from 'vitest';
import { makePlace, sluice, startServer } from '../support/server.ts';

describe('sluice open', () => {
  test('prints an address that lets its reader in, and as JSON too', async () => {
    const place = makePlace();
    const { url } = await startServer(place);
    const { code, stdout } = await sluice(place, ['open']);
    const address = new URL(stdout.trim());
    expect([code, address.origin, address.pathname]).toEqual([0, url, '/']);
    const token = decodeURIComponent(address.hash.replace('#token=', ''));
    const answer = await fetch(`${url}/api/v1/projects`, { headers: { authorization: `Bearer ${token}` } });
    expect(answer.status).toBe(200);
    const asJson = await sluice(place, ['open', '--json']);
    expect(JSON.parse(asJson.stdout)).toEqual({ url: stdout.trim() });
  });

  test('says what to do when no server runs, or the token is another one', async () => {
    const place = makePlace();
    const none = await sluice(place, ['open']);
    expect([none.code, none.stdout]).toEqual([1, '']);
    expect(none.stderr).toContain('sluice server --data');
    await startServer(place);
    const wrong = await sluice(place, ['open'], { SLUICE_TOKEN: 'of-another-server' });
    expect([wrong.code, wrong.stdout]).toEqual([1, '']);
    expect(wrong.stderr).toContain('Send a valid token');
  });
});
