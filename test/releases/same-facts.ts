/** What later releases answer otherwise about the same network. */
const OTHERWISE: ReadonlySet<string> = new Set([
  // Entries are numbered within their workspace.
  'seq',
  // Has the address of the control plane.
  'approvalUrl',
  // Are reckoned over more, and of less.
  'digest',
  'size_bytes',
  // Was known of peers online by the process alone.
  'lastSeenAt',
  // Members are told by name.
  'userId',
  // Proposals became changes that can be planned, and causes those that decide.
  'would_fix',
  'causes',
  // Lists the devices that bear the names, with their keys and recent renames.
  'diffMarkdown',
  // Tell the interval in which a verdict holds, and no longer that of a revision.
  'valid_from',
  'valid_to',
  // Became `read_by` and `check`.
  'plannedBy',
  'verification',
]);
/** Lists of differences, which have agents and the ends outside now. */
const LONGER: ReadonlySet<string> = new Set(['added', 'removed', 'changed', 'connectivity']);

/** Where an answer says otherwise than an earlier one did, a line each. Lists of resources are compared in any order. */
export function otherwise(before: unknown, after: unknown, pointer = ''): string[] {
  if (Array.isArray(before))
    return Array.isArray(after) ? otherList(before, after, pointer) : [told(pointer, before, after)];
  if (typeof before !== 'object' || before === null) return before === after ? [] : [told(pointer, before, after)];
  if (typeof after !== 'object' || after === null) return [told(pointer, before, after)];
  return Object.entries(before).flatMap(([field, value]) => {
    // The instant and the revision at which a control plane was asked.
    if (OTHERWISE.has(field) || (pointer === '' && (field === 'at' || field === 'revision'))) return [];
    return otherwise(value, (after as Record<string, unknown>)[field], `${pointer}/${field}`);
  });
}

function otherList(before: readonly unknown[], after: readonly unknown[], pointer: string): string[] {
  const mayGrow = LONGER.has(pointer.split('/').at(-1) ?? '');
  if (after.length < before.length || (after.length > before.length && !mayGrow)) {
    return [told(`${pointer}/length`, before.length, after.length)];
  }
  const left = [...after];
  return before.flatMap((item, index) => {
    const found = left.findIndex((candidate) => otherwise(item, candidate, `${pointer}/${index}`).length === 0);
    if (found === -1) return [told(`${pointer}/${index}`, item, 'nothing like it')];
    left.splice(found, 1);
    return [];
  });
}

function told(pointer: string, before: unknown, after: unknown): string {
  return `${pointer}: ${JSON.stringify(before)} became ${JSON.stringify(after)}`;
}
