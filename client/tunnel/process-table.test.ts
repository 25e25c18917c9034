import { expect, it } from 'vitest';
import { psProcesses } from './process-table.ts';

it('reads what ps says of a process, and that there is none', async () => {
  const answers: Record<string, string> = { '412': '  399 wireguard-go -f utun96\n', '413': '' };
  const processes = psProcesses((_, args) =>
    Promise.resolve({ code: 0, stdout: answers[args.at(-1) ?? ''] ?? '', stderr: '' }),
  );
  expect([await processes(412), await processes(413)]).toEqual([
    { parent: 399, command: ['wireguard-go', '-f', 'utun96'], startedAt: '', isReplaced: false },
    undefined,
  ]);
});
