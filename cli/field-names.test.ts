import { Command } from 'commander';
import { expect, test } from 'vitest';
import { operations } from '../tools/index.ts';
import { addCommands } from './commands.ts';
import { CliError, EXIT } from './exit.ts';
import { reportFailure } from './failure.ts';
import { CALLED, failureText, nameOf } from './field-names.ts';

async function commandOf(...words: readonly string[]): Promise<Command> {
  const program = new Command('mesh');
  const nothing = () => Promise.reject(new Error('no command runs here'));
  await addCommands(program, { words, version: '0.1.0', loadLauncher: nothing, loadAuditStore: nothing });
  return words.reduce((command, word) => command.commands.find((one) => one.name() === word) ?? command, program);
}

function refused(...pointers: readonly string[]): CliError {
  const errors = pointers.map((pointer) => ({ pointer, detail: 'No.' }));
  return new CliError(`Invalid input: ${pointers.map((pointer) => `${pointer}: No.`).join(' ')}`, EXIT.input, {
    errors,
  });
}

test.each([
  [['compliance', 'assess'], '/period_end', '--to'],
  [['compliance', 'assess'], '/framework', '<framework>'],
  [['compliance', 'compare'], '/later', '<to>'],
  [['evidence', 'export'], '/evidence_id', '--id'],
  [['evidence', 'export'], '/period_start', '--from'],
  [['plan'], '/approved_by', '--approver'],
  [['admin', 'assess-compliance'], '/period_end', '--period-end'],
  [['admin', 'update-workspace'], '/settings/compliance/cde/0', '--settings (/compliance/cde/0)'],
  [['webhook', 'create'], '/url', '<url>'],
])('mesh %j calls %s %s', async (words, pointer, name) => {
  expect(failureText(await commandOf(...words), refused(pointer))).toBe(`Invalid input: ${name}: No.`);
});

test('a field that the command does not take keeps its own name, and is not taken for part of another', async () => {
  const assess = await commandOf('compliance', 'assess');
  expect(failureText(assess, refused('/other', '/period_end', '/period_end/x'))).toBe(
    'Invalid input: /other: No. --to: No. --to (/x): No.',
  );
});

test('each other name of a field is that of an operation, and some command has it', async () => {
  const fields = new Set([...operations.flatMap(({ input }) => Object.keys(input.shape)), 'evidence_id']);
  const words = ['compliance', 'evidence', 'plan'];
  const program = await commandOf();
  expect(program.commands.length).toBeGreaterThan(0);
  const leaves: Command[] = [];
  for (const word of words) {
    const command = await commandOf(word);
    leaves.push(command, ...command.commands);
  }
  for (const field of Object.keys(CALLED)) {
    expect([field, fields.has(field)]).toEqual([field, true]);
    expect([field, leaves.some((leaf) => nameOf(leaf, field) !== undefined)]).toEqual([field, true]);
  }
});

test('under -o json the problem stays as the server wrote it', async () => {
  const written: string[] = [];
  const { write } = process.stderr;
  process.stderr.write = (text) => written.push(String(text)) > 0;
  try {
    const program = await commandOf();
    const error = refused('/period_end');
    const problem = { ...error.problem, detail: '/period_end: No.' };
    const args = ['compliance', 'assess'];
    await reportFailure(new CliError(error.message, EXIT.input, problem), { program, args, format: 'json' });
  } finally {
    process.stderr.write = write;
  }
  expect(JSON.parse(written.join(''))).toMatchObject({
    detail: '/period_end: No.',
    errors: [{ pointer: '/period_end' }],
  });
});
