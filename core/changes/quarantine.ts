import { newId } from '../base/ids.ts';
import type { Op, Store } from '../base/ports.ts';
import type { NoStatus, RecordDraft } from '../base/record.ts';

/** Freed addresses, with the revision of their record and the instant their quarantine ends. */
export type QuarantinedAddresses = ReadonlyMap<string, { readonly until: number; readonly revision: number }>;

/** The kind as it is stored. */
const KIND = 'AddressRest';

interface QuarantineSpec {
  /** Milliseconds: the address is as good as any other from then on. */
  readonly until: number;
}

declare module '../base/record.ts' {
  interface RecordTypes {
    AddressRest: { spec: QuarantineSpec; status: NoStatus };
  }
}

/**
 * The record of a freed address. Who gives an address again deletes its record in the same commit, so a held address
 * is never in quarantine.
 */
export function quarantineDraft(address: string, until: number): RecordDraft<'AddressRest'> {
  return {
    kind: KIND,
    name: address,
    uid: newId('r'),
    labels: {},
    annotations: {},
    spec: { until },
    status: {},
    unique: [],
  };
}

/** The addresses in quarantine, also those whose quarantine has ended but whose record is still there. */
export async function quarantinedAddresses(
  store: Pick<Store, 'list'>,
  workspace: string,
): Promise<QuarantinedAddresses> {
  const { items } = await store.list(workspace, KIND);
  return new Map(items.map(({ name, spec, revision }) => [name, { until: spec.until, revision }]));
}

/** Takes an address out of quarantine, where it is in. */
export function endQuarantine(address: string, quarantined: QuarantinedAddresses): Op[] {
  const record = quarantined.get(address);
  return record ? [{ op: 'delete', key: { kind: KIND, name: address }, revision: record.revision }] : [];
}
