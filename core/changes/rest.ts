import { newId } from '../base/ids.ts';
import type { Store } from '../base/ports.ts';
import type { RecordDraft } from '../base/record.ts';

/** Addresses that rest, with the revision of their AddressRest record and the instant their rest ends. */
export type Resting = ReadonlyMap<string, { readonly until: number; readonly revision: number }>;

interface RestSpec {
  /** Milliseconds: the address is as good as any other from then on. */
  readonly until: number;
}

/**
 * The record of a freed address. Who gives an address again deletes its rest in the same commit, so a held address never
 * has one.
 */
export function restDraft(address: string, until: number): RecordDraft<RestSpec> {
  return {
    kind: 'AddressRest',
    name: address,
    uid: newId('r'),
    labels: {},
    annotations: {},
    spec: { until },
    status: {},
    unique: [],
  };
}

/** The addresses that rest, also those whose rest has ended but whose record is still there. */
export async function restingAddresses(store: Pick<Store, 'list'>, workspace: string): Promise<Resting> {
  const { items } = await store.list(workspace, 'AddressRest');
  return new Map(
    items.map(({ name, spec, revision }) => [name, { until: (spec as RestSpec).until, revision }] as const),
  );
}
