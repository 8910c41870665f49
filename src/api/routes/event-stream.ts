import type { Routes } from '../app.ts';
import { ChangeFeed } from '../changes.ts';

/** Tells who looks at something when to look again. */
export const eventStreamRoutes: Routes = (app, deps) => {
  const feed = new ChangeFeed(deps.store, deps.clock);
  app.addHook('preClose', async () => feed.close());
  app.get(
    '/events/stream',
    {
      config: { permission: 'read' },
      exposeHeadRoute: false, // it would open a stream that nobody reads
      schema: {
        operationId: 'streamEvents',
        tags: ['events'],
        summary:
          'Server-sent events: one "ready", then "changed" {kinds: ["assets", "groups", "workflows", "runs"]} at most five times a second. ' +
          'Nothing is replayed: after a lost connection ask for what you show, whatever Last-Event-ID says.',
        produces: ['text/event-stream'],
      },
    },
    (_request, reply) =>
      reply
        .type('text/event-stream')
        .header('cache-control', 'no-store')
        .header('x-accel-buffering', 'no') // a proxy in between must not collect events
        .send(feed.follow()),
  );
};
