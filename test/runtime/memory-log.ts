import type { Log, LogFields } from '../../src/runtime/log.ts';

export interface Line extends LogFields {
  readonly level: string;
  readonly message: string;
}

/** A log that keeps its lines for the test to look at. */
export function memoryLog(): { readonly log: Log; readonly lines: Line[] } {
  const lines: Line[] = [];
  const make = (bound: LogFields): Log => {
    const at = (level: string) => (message: string, fields?: LogFields) =>
      void lines.push({ ...bound, ...fields, level, message });
    return {
      debug: at('debug'),
      info: at('info'),
      warn: at('warn'),
      error: at('error'),
      child: (logger, fields) => make({ ...bound, ...fields, logger }),
    };
  };
  return { log: make({}), lines };
}
