import { newId } from '../core/base/ids.ts';
import type { DraftOf, Kind } from '../core/base/record.ts';

/** A record as a bench seeds it: without labels, annotations and unique values. */
export function draft<K extends Kind>(
  kind: K,
  name: string,
  spec: DraftOf<K>['spec'],
  status: DraftOf<K>['status'],
): DraftOf<K> {
  return { kind, name, uid: newId('r'), labels: {}, annotations: {}, spec, status, unique: [] };
}
