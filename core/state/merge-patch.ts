import type { AnyOperation, CallContext } from '../base/operation.ts';
import { addressedRecord } from './expecting.ts';
import type { NetworkServices } from './services.ts';

/**
 * What a merge patch (RFC 7396) asks for, in the terms of the operation, which replaces each field that is sent: its maps
 * are those of the record with the patch merged in, where null takes a key away. It is asked of the version that was
 * merged into, so that nobody's keys are lost.
 *
 * Example: `{"labels": {"env": "prod", "old": null}}` on a peer with `role=web,old=yes` asks for `role=web,env=prod`.
 */
export async function withMergePatch(
  operation: Pick<AnyOperation<never>, 'addresses' | 'maps'>,
  raw: Readonly<Record<string, unknown>>,
  context: CallContext<NetworkServices>,
): Promise<Readonly<Record<string, unknown>>> {
  const maps = (operation.maps ?? []).filter((field) => raw[field] !== undefined);
  if (maps.length === 0) return raw;
  const record = await addressedRecord(operation, raw, context);
  const merged = maps.map((field) => [field, mergedMap(record?.[field] ?? {}, raw[field])]);
  return { ...(record && { revision: record.revision }), ...raw, ...Object.fromEntries(merged) };
}

/** What is no map comes back as it is: the schema of the operation refuses it. */
function mergedMap(target: Readonly<Record<string, string>>, patch: unknown): unknown {
  if (patch === null) return {};
  if (typeof patch !== 'object' || Array.isArray(patch)) return patch;
  return Object.fromEntries(Object.entries({ ...target, ...patch }).filter(([, value]) => value !== null));
}
