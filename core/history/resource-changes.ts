import type { Commit } from '../base/ports.ts';
import { withRenames } from '../base/renames.ts';
import { isStateKind } from '../state/state.ts';
import { type ChangedPath, changedPaths } from './diff.ts';
import { semanticOf } from './semantic.ts';

/** Values longer than this, as JSON, are told to have changed and not shown. */
const MAX_VALUE = 2_000;
const MAX_RESOURCES = 50;
const MAX_PATHS = 50;

/** Returns the changes of a commit to the network, field by field; only the first ones where there are many. */
export function resourceChanges({ changes }: Pick<Commit, 'changes'>) {
  return withRenames(changes)
    .filter(({ record }) => isStateKind(record.kind) && record.kind !== 'Presence')
    .slice(0, MAX_RESOURCES)
    .map(({ type, record, before }) => ({
      type,
      kind: record.kind,
      name: record.name,
      paths:
        type === 'updated' && before
          ? changedPaths(semanticOf(before), semanticOf(record)).slice(0, MAX_PATHS).map(shortened)
          : [],
    }));
}

function shortened({ path, ...values }: ChangedPath): ChangedPath {
  return JSON.stringify(values).length > MAX_VALUE ? { path } : { path, ...values };
}
