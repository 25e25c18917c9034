import { type Signal, useComputed, useSignal, useSignalEffect } from '@preact/signals';
import { allPages } from '../api/all-pages.ts';
import { api } from '../api/client.ts';
import { type Loaded, useLoaded } from '../api/load.ts';
import { me } from '../api/session.ts';
import { may, workspaceId } from '../api/workspace.ts';
import { Select } from '../design/select.tsx';
import { TextField } from '../ui/field.tsx';
import { ReadResult } from '../ui/read-result.tsx';

interface Approvers {
  readonly chosen: Signal<string>;
  readonly names: Signal<readonly string[]>;
  readonly loaded: Signal<Loaded<unknown>>;
}

const APPROVING: ReadonlySet<string> = new Set(['operator', 'admin']);

/**
 * Possible approvers: members who may approve, and oneself.
 *
 * @param needsAnotherPerson true leaves oneself out; false puts oneself first, and undefined, where it is not known, last
 */
export function useApprovers(needsAnotherPerson: boolean | undefined): Approvers {
  const chosen = useSignal('');
  const loaded = useLoaded(
    () => {
      const params = { path: { workspaceId: workspaceId.value ?? '' } };
      return allPages((cursor) =>
        api.GET('/api/v1/workspaces/{workspaceId}/members', {
          params: { ...params, query: { limit: 200, ...(cursor && { cursor }) } },
        }),
      );
    },
    { live: false },
  );
  const names = useComputed(() => {
    const self = me.value?.username;
    const own = may('workflows:approve') && self !== undefined ? [self] : [];
    const members = (loaded.value.value ?? []).filter(({ role }) => APPROVING.has(role));
    const others = members.map(({ username }) => username).filter((name) => name !== self);
    if (needsAnotherPerson !== false && loaded.value.isLoading) return [];
    return needsAnotherPerson === true
      ? others
      : needsAnotherPerson === false
        ? [...own, ...others]
        : [...others, ...own];
  });
  useSignalEffect(() => {
    if (chosen.peek() === '') chosen.value = names.value[0] ?? '';
  });
  return { chosen, names, loaded };
}

/** A choice of names; a field to write one where none is known. */
export function ApproverField({ approvers: { chosen, names, loaded } }: { approvers: Approvers }) {
  const [first] = names.value;
  if (first === undefined && loaded.value.isLoading) return null;
  return (
    <>
      <ReadResult of={loaded.value} loading="" />
      {first === undefined ? (
        <TextField label="Approver" hint="Anyone who may approve here can decide it." value={chosen} required />
      ) : (
        <Select
          label="Approver"
          options={names.value.map((name) => ({ value: name, text: name }))}
          value={chosen.value}
          change={(name) => (chosen.value = name)}
        />
      )}
    </>
  );
}
