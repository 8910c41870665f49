import { describe, expect, test } from 'vitest';
import { soakEvery } from './soak.ts';
import { steeringStory } from './steering-story.ts';
import { enumerateDeaths } from './story.ts';
import { triggerStory } from './trigger-story.ts';

const LIMIT = { timeout: 1_200_000 };
const every = soakEvery();

describe('a server that dies just before any of its commits is followed by one that goes on as if nothing had happened', () => {
  // About a minute on two cores.
  test('from a table commit to a finished run', LIMIT, async () => {
    expect((await enumerateDeaths(triggerStory, 'BEFORE')).length).toBeGreaterThan(15);
  });

  // As long again: `npm run soak`. test/fault/kill.test.ts has single moments of it.
  if (every !== null)
    test('a retry, a stop and a resume', LIMIT, async () => {
      expect(await enumerateDeaths(steeringStory, 'BEFORE', every)).not.toEqual([]);
    });
});
