import { describe, expect, test } from 'vitest';
import { steeringStory } from './steering-story.ts';
import { enumerateDeaths } from './story.ts';
import { triggerStory } from './trigger-story.ts';

// Each commit in turn, until the story ends without a death: about a minute a story on two cores.
const LIMIT = { timeout: 600_000 };

describe('a server that dies just before any of its commits is followed by one that goes on as if nothing had happened', () => {
  test('from a table commit to a finished run', LIMIT, async () => {
    expect(await enumerateDeaths(triggerStory, 'BEFORE')).toBeGreaterThan(15);
  });

  test('a retry, a stop and a resume', LIMIT, async () => {
    expect(await enumerateDeaths(steeringStory, 'BEFORE')).toBeGreaterThan(15);
  });
});
