/** One server-sent event; `data` is parsed JSON. */
export interface ServerSentEvent {
  readonly event: string;
  readonly data: unknown;
}

/** Events out of a stream's chunks, however they are cut. Comments (keep-alives) and events without data are left out. */
export async function* serverSentEvents(chunks: AsyncIterable<string>): AsyncGenerator<ServerSentEvent> {
  let rest = '';
  for await (const chunk of chunks) {
    rest += chunk;
    const blocks = rest.split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const event = parse(block);
      if (event !== null) yield event;
    }
  }
}

const parse = (block: string): ServerSentEvent | null => {
  const fields = new Map(
    block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]),
  );
  const data = fields.get('data');
  return data === undefined ? null : { event: fields.get('event') ?? 'message', data: JSON.parse(data) as unknown };
};
