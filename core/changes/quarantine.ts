import { newId } from '../base/ids.ts';
import type { Op } from '../base/ports.ts';
import type { RecordDraft } from '../base/record.ts';
import type { QuarantinedAddresses } from '../model/quarantine.ts';

/** The kind as it is stored. */
const KIND = 'AddressRest';

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

/** Takes an address out of quarantine, where it is in. */
export function endQuarantine(address: string, quarantined: QuarantinedAddresses): Op[] {
  const record = quarantined.get(address);
  return record ? [{ op: 'delete', key: { kind: KIND, name: address }, revision: record.revision }] : [];
}
