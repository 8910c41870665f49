import { expect, test } from 'vitest';
import { ok } from '../../src/core/result.ts';
import { shell } from '../../src/tasks/shell.ts';

test('the work is the rendered script', () => {
  const render = (text: string) => ok(text.replace('${greeting}', 'hello'));
  const work = shell.prepare({ params: { rawScript: 'echo ${greeting}' }, render });
  expect(work).toEqual(ok({ kind: 'PROCESS', script: 'echo hello', cwd: null }));
});

test.each([{}, { rawScript: '' }, { rawScript: ' \n' }, { rawScript: 7 }, { rawScript: null }])(
  '%j has no script',
  (params) => {
    const refused = {
      ok: false,
      problem: { code: 'BAD_FILE', detail: expect.stringContaining('needs params.rawScript') },
    };
    expect(shell.check(params)).toMatchObject(refused);
    expect(shell.prepare({ params, render: ok })).toMatchObject(refused);
  },
);

test('a slip in a name is met with the name that was meant', () => {
  expect(shell.check({ rawScrip: 'true' })).toMatchObject({
    problem: { detail: 'A SHELL task has no parameter rawScrip: did you mean rawScript?' },
  });
  expect(shell.check({ rawScript: 'true', memory: 1 })).toMatchObject({
    problem: { detail: 'A SHELL task has no parameter memory: it takes rawScript.' },
  });
});
