import type { z } from 'zod';
import { spansOf, spanText, subtract } from '../core/effect/port-spans.ts';
import type { FileResource } from '../core/history/export.ts';
import { toYaml } from '../core/views/render-yaml.ts';
import { diffSnapshots } from '../tools/snapshots/diff-snapshots.ts';
import { callOperation } from './call-operation.ts';
import type { Connection, Difference, ResourceDifference } from './diff-files.ts';
import { exportAnswer } from './export.ts';
import { fileOf } from './resource-files.ts';
import type { Target } from './session.ts';

type Diff = z.output<typeof diffSnapshots.output>;

/** Maximum pages of connection groups: nobody reads more. */
const MAX_PAGES = 20;
/** Returns the differences between two moments of the network. @param second defaults to now */
export async function momentsDiffer(target: Target, first: string, second: string | undefined): Promise<Difference> {
  const now = second === undefined ? await exportAnswer(target) : undefined;
  const found = await callOperation(target, diffSnapshots, { from: first, to: second ?? now?.at });
  // A day begins and ends where the control plane says.
  const momentOf = (text: string, { captured_at: at }: { readonly captured_at: string }) =>
    text.startsWith('snap_') ? text : at;
  const asked = { from: momentOf(first, found.from), to: now?.at ?? momentOf(second ?? '', found.to) };
  const [before, after] = [await exportAnswer(target, asked.from), now ?? (await exportAnswer(target, asked.to))];
  const groups = [...found.groups];
  let cursor = found.next_cursor;
  for (let page = 1; cursor !== undefined && page < MAX_PAGES; page++) {
    const next = await callOperation(target, diffSnapshots, { ...asked, cursor });
    groups.push(...next.groups);
    cursor = next.next_cursor;
  }
  const resources = resourceDifferences(before.resources, after.resources);
  const shown = new Set(resources.map(({ kind, name }) => `${kind}/${name}`));
  const others = [
    ...found.added.map((one) => ({ ...one, text: `added: ${one.kind} ${one.name}` })),
    ...found.removed.map((one) => ({ ...one, text: `removed: ${one.kind} ${one.name}` })),
    ...found.changed.map((one) => ({
      ...one,
      text: `changed: ${one.kind} ${one.name}: ${one.changes.map(({ path }) => path).join(', ')}`,
    })),
  ].filter(({ kind, name }) => !shown.has(`${kind}/${name}`));
  return {
    from: before.at,
    to: after.at,
    resources,
    connections: groups.flatMap(connectionsOf),
    others: [...others.map(({ text }) => text), ...found.controls.map(controlText)],
    notes: [
      ...(found.note === undefined ? [] : [found.note]),
      ...(cursor === undefined ? [] : [`${groups.length} groups of connections are shown, and there are more.`]),
    ],
  };
}

function controlText({ framework, control, from, to, evidence }: Diff['controls'][number]): string {
  return `control: ${framework} ${control}: ${from} -> ${to}: ${evidence}`;
}

function resourceDifferences(before: readonly FileResource[], after: readonly FileResource[]): ResourceDifference[] {
  const keyOf = ({ kind, metadata }: FileResource) => `${kind}/${metadata.name}`;
  const [old, fresh] = [before, after].map((side) => new Map(side.map((resource) => [keyOf(resource), resource])));
  return [...new Set([...(old?.keys() ?? []), ...(fresh?.keys() ?? [])])].flatMap((key) => {
    const [was, is] = [old?.get(key), fresh?.get(key)];
    const [text, now] = [was ? toYaml(was) : '', is ? toYaml(is) : ''];
    const one = was ?? is;
    if (!one || text === now) return [];
    return [{ kind: one.kind, name: one.metadata.name, file: fileOf(one), before: text, after: now }];
  });
}

function connectionsOf({ src, dst, old, new: now }: Diff['groups'][number]): Connection[] {
  const [was, is] = [spansOf(old), spansOf(now)];
  const ends = { src: [src].flat().join(', '), dst: [dst].flat().join(', ') };
  const [opened, closed] = [subtract(is, was), subtract(was, is)];
  return [
    ...(opened.length > 0 ? [{ change: 'opened' as const, ...ends, ports: spanText(opened) }] : []),
    ...(closed.length > 0 ? [{ change: 'closed' as const, ...ends, ports: spanText(closed) }] : []),
  ];
}
