import type { NoStatus, StoredOf } from '../base/record.ts';

interface QuarantineSpec {
  /** Milliseconds: the address is as good as any other from then on. */
  readonly until: number;
}

declare module '../base/record.ts' {
  interface RecordTypes {
    AddressRest: { spec: QuarantineSpec; status: NoStatus };
  }
}

/** A freed address that is not given again for a while; the address is its name. */
export type QuarantineRecord = StoredOf<'AddressRest'>;

/** Freed addresses, also those whose quarantine has ended but whose record is still there. */
export type QuarantinedAddresses = ReadonlyMap<string, QuarantineRecord>;
