import type { Command } from 'commander';
import type { FileResource } from '../core/history/export.ts';
import { DEFAULT_NETWORK } from '../core/model/resources.ts';
import { applyResources } from '../tools/resources/apply-resources.ts';
import { type Answer, answering } from './answer.ts';
import { preview, prunedKinds } from './apply.ts';
import { callOperation } from './call-operation.ts';
import { CliError, EXIT } from './exit.ts';
import { exportAnswer } from './export.ts';
import { type FilePeer, type ImportPlan, movedPeers, planImport } from './import-plan.ts';
import { noticePending, pendingWorkflowOf } from './pending-approval.ts';
import { FOLDERS, readDocuments, withFileNames } from './resource-files.ts';
import { type Target, type TargetOptions, targetOf } from './session.ts';
import { withTarget } from './target.ts';

interface ImportOptions extends TargetOptions {
  readonly newKeys?: boolean;
}

/** `mesh import DIR`: an export into an empty workspace, in one commit or not at all; again once more devices have joined. */
export function defineImport(command: Command): void {
  answering(
    withTarget(command)
      .argument('<directory>', 'what mesh export wrote')
      .option('--new-keys', 'take devices for those of the export by their names, though they have other keys'),
    async (directory: string, { newKeys, ...options }: ImportOptions): Promise<Answer> => {
      const target = targetOf(options);
      const read = await readDocuments(directory);
      const { resources } = await exportAnswer(target);
      const plan = planImport(read.documents, resources);
      requireListed(plan, directory, resources);
      if (newKeys !== true) requireSameKeys(plan);
      const places = { places: plan.indexes.map((index) => read.places[index] ?? '') };
      await requireEmpty(target, plan, places);
      // Each document says all of its resource; nothing is deleted.
      const values = { documents: plan.documents, prune: [] };
      const value = await withFileNames(places, () => callOperation(target, applyResources, values));
      noticePending(value);
      const mustJoin = plan.missing.map(({ name, labels, network }) => ({ name, labels, ...(network && { network }) }));
      if (pendingWorkflowOf(value) !== undefined) return { value: { ...(value as object), must_join: mustJoin } };
      const moved = movedPeers(read.documents, (await exportAnswer(target)).resources);
      return answerOf(value as ImportAnswer, mustJoin, moved, joinHints(plan.missing));
    },
  );
}

interface ImportAnswer {
  readonly items: readonly { readonly kind: string; readonly name: string; readonly result: string }[];
  readonly revision: number;
}

function answerOf(
  applied: ImportAnswer,
  mustJoin: readonly object[],
  moved: readonly string[],
  hints: string[],
): Answer {
  const count = (results: readonly string[]) => applied.items.filter(({ result }) => results.includes(result)).length;
  const ended = count(['ended']);
  const text = [
    `${count(['created', 'updated'])} written, ${count(['unchanged'])} unchanged; revision ${applied.revision}`,
    ...(ended > 0 ? [`Left out: policies whose time is over: ${ended}`] : []),
    ...moved.map((sentence) => `Not as it was: ${sentence}`),
  ];
  const value = { ...applied, must_join: mustJoin, moved };
  if (mustJoin.length === 0) return { value, text };
  const still = `${mustJoin.length} ${mustJoin.length === 1 ? 'device has' : 'devices have'} still to join, with tokens made by:`;
  return { value, text: [...text, still], hints: [...hints, 'Then import again.'] };
}

/**
 * Returns commands that make one token for each set of labels and network, so that devices have both from their first second.
 */
function joinHints(peers: readonly FilePeer[]): string[] {
  const commandOf = ({ labels, network }: FilePeer) => {
    const words = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
    const options = [
      ...(words.length > 0 ? [`--labels ${words.join(',')}`] : []),
      ...(network === undefined || network === DEFAULT_NETWORK ? [] : [`--network ${network}`]),
    ];
    return ['mesh admin generate-join-token --name import', ...options].join(' ');
  };
  return [...Map.groupBy(peers, commandOf)].map(
    ([command, group]) => `  ${command} --usage-limit ${group.length}  # ${namesOf(group.map(({ name }) => name))}`,
  );
}

const NAMES_SHOWN = 5;

function namesOf(names: readonly string[]): string {
  const more = names.length > NAMES_SHOWN ? ` and ${names.length - NAMES_SHOWN} more` : '';
  return names.slice(0, NAMES_SHOWN).join(', ') + more;
}

/** A policy that lists peers names devices, not names: until they have joined there is nobody whom it could mean. */
function requireListed({ listed, missing }: ImportPlan, directory: string, there: readonly FileResource[]): void {
  if (listed.length === 0) return;
  const names = new Set(listed.map(({ peer }) => peer));
  const policies = new Set(listed.map(({ policy }) => policy));
  const networks = new Set(there.flatMap(({ kind, metadata }) => (kind === 'MeshNetwork' ? [metadata.name] : [])));
  const needsNetworks = missing.some(({ network }) => network !== undefined && !networks.has(network));
  const lines = [
    `Nothing is imported: ${namesOf([...policies])} list${policies.size === 1 ? 's' : ''} peers that have not joined: ${namesOf([...names])}. Have them join under these names, then import again. Tokens for all ${missing.length} devices that have still to join are made by:`,
    // A token names a network that is there.
    ...(needsNetworks ? [`  mesh apply -f ${directory}/${FOLDERS.MeshNetwork}`] : []),
    ...joinHints(missing),
  ];
  throw new CliError(lines.join('\n'), EXIT.conflict, { code: 'conflict', must_join: [...names] });
}

/** Devices choose their names: one that took a name is not for that the device that had it. */
function requireSameKeys({ otherKeys }: ImportPlan): void {
  if (otherKeys.length === 0) return;
  throw new CliError(
    `Nothing is imported: ${namesOf(otherKeys)} ${otherKeys.length === 1 ? 'has another key' : 'have other keys'} than in the files. If these are the devices that are meant, set up anew, give --new-keys.`,
    EXIT.conflict,
    { code: 'conflict', other_keys: otherKeys },
  );
}

/** An import writes over nothing, but the default network that every workspace begins with. */
async function requireEmpty(
  target: Target,
  { documents }: ImportPlan,
  places: { readonly places: readonly string[] },
): Promise<void> {
  const { items } = await preview(target, places, {
    documents,
    prune: prunedKinds(true, { documents, isExport: true }),
  });
  const others = items.filter(
    ({ kind, name, result }) =>
      kind !== 'MeshPeer' &&
      (result === 'deleted' || (result === 'updated' && !(kind === 'MeshNetwork' && name === DEFAULT_NETWORK))),
  );
  if (others.length === 0) return;
  throw new CliError(
    `Nothing is imported: the workspace has policies or networks of its own: ${namesOf(others.map(({ kind, name }) => `${kind} ${name}`))}. To have files say all there is: mesh apply -f DIRECTORY --prune`,
    EXIT.conflict,
    { code: 'conflict', there: others.map(({ kind, name }) => ({ kind, name })) },
  );
}
