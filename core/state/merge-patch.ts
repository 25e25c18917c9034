import type { AnyOperation, CallContext } from '../base/operation.ts';
import { addressedRecord } from './expecting.ts';
import type { NetworkServices } from './services.ts';

/**
 * Returns the input of a merge patch (RFC 7396) in the terms of the operation, which replaces each field that is sent: its maps
 * are those of the record with the patch merged in, where null removes a key. The input names the version that it was merged
 * into, so that concurrent changes of keys are not lost.
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

/** Merges a patch into a map. Returns a value that is no map unchanged: the schema of the operation refuses it. */
function mergedMap(target: Readonly<Record<string, string>>, patch: unknown): unknown {
  if (patch === null) return {};
  if (typeof patch !== 'object' || Array.isArray(patch)) return patch;
  return Object.fromEntries(Object.entries({ ...target, ...patch }).filter(([, value]) => value !== null));
}
