import type { Command } from 'commander';
import type { z } from 'zod';
import { settingsSchema } from '../core/model/workspaces.ts';
import { getWorkspace } from '../tools/workspaces/get-workspace.ts';
import { updateWorkspace } from '../tools/workspaces/update-workspace.ts';
import { type Answer, answering } from './answer.ts';
import { callOperation } from './call-operation.ts';
import { CliError, EXIT } from './exit.ts';
import { terminalWidth, wrapped } from './fit.ts';
import { parseJsonOr } from './operation-options.ts';
import { noticePending, pendingWorkflowOf } from './pending-approval.ts';
import { type TargetOptions, targetOf } from './session.ts';
import { withTarget } from './target.ts';

type Json = Readonly<Record<string, unknown>>;

/** `mesh settings`: shows the settings of the workspace, or changes some. */
export function defineSettings(command: Command): void {
  answering(
    withTarget(command.command('show', { isDefault: true }).description('show the settings (also without a word)')),
    async (options: TargetOptions): Promise<Answer> => ({
      value: settingsOf(await callOperation(targetOf(options), getWorkspace, {})),
    }),
  );
  answering(
    withTarget(command.command('set').description('change settings; "null" unsets one'))
      .argument('<setting...>', 'key=value, such as timeZone=Europe/Berlin or autoApprove.maxRisk=low')
      .addHelpText('after', () => `\nSettings:\n${keyLines().join('\n')}`),
    set,
  );
}

async function set(pairs: readonly string[], options: TargetOptions): Promise<Answer> {
  const target = targetOf(options);
  const body = pairs.reduce<Json>((patch, pair) => merged(patch, patchOf(pair)), {});
  const value = await callOperation(target, updateWorkspace, body);
  noticePending(value);
  return { value: pendingWorkflowOf(value) === undefined ? settingsOf(value) : value };
}

function settingsOf({ displayName, maxNodeCount, settings }: z.output<typeof getWorkspace.output>): Json {
  return { displayName, maxNodeCount, ...settings };
}

const { settings, ...own } = updateWorkspace.input.shape;
const ofWorkspace = settings.unwrap().shape;

/** @throws CliError for what names no setting */
function patchOf(pair: string): Json {
  const at = pair.indexOf('=');
  const path = pair.slice(0, Math.max(at, 0)).split('.');
  const [key = '', ...below] = path;
  const isKnown = Object.hasOwn(own, key) || Object.hasOwn(ofWorkspace, key);
  if (at < 1 || !isKnown) {
    const known = [...Object.keys(own), ...Object.keys(ofWorkspace)].join(', ');
    const what = at < 1 ? `"${pair}" is not of the form key=value.` : `There is no setting ${key}.`;
    throw new CliError(`${what} The settings are ${known}.`, EXIT.input);
  }
  const text = pair.slice(at + 1);
  const isOwn = Object.hasOwn(own, key);
  const within = (leaf: unknown) => below.reduceRight<unknown>((value, field) => ({ [field]: value }), leaf);
  const shapes: Readonly<Record<string, z.ZodType>> = isOwn ? own : ofWorkspace;
  const isFit = (leaf: unknown) => shapes[key]?.safeParse(within(leaf)).success === true;
  const shown = SHOWN_AS.get(text);
  const isSwitch = shown !== undefined && !isFit(text) && isFit(shown);
  const value = within(isSwitch ? shown : parseJsonOr(text, text));
  return isOwn ? { [key]: value } : { settings: { [key]: value } };
}

/** Words for a switch, as `mesh settings` prints and accepts them. */
const SHOWN_AS: ReadonlyMap<string, boolean> = new Map([
  ['yes', true],
  ['no', false],
]);

function merged(first: Json, second: Json): Json {
  const entries = Object.entries(second).map(([key, value]) => {
    const before = Object.hasOwn(first, key) ? first[key] : undefined;
    return [key, isMap(before) && isMap(value) ? merged(before, value) : value] as const;
  });
  return { ...first, ...Object.fromEntries(entries) };
}

function isMap(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function keyLines(): readonly string[] {
  const shapes: Readonly<Record<string, z.ZodType>> = { ...own, ...settingsSchema.shape };
  const indent = Math.max(...Object.keys(shapes).map(({ length }) => length)) + 4;
  return Object.entries(shapes).flatMap(([key, { description = '' }]) =>
    wrapped(description, terminalWidth() - indent).map((line, at) =>
      `${at === 0 ? `  ${key}`.padEnd(indent) : ' '.repeat(indent)}${line}`.trimEnd(),
    ),
  );
}
