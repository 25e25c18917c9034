import { type FieldFault, Problem } from '../api/problem.ts';

/** Objects of the API that are no field of a form themselves. */
const CONTAINERS: ReadonlySet<string> = new Set(['metadata', 'spec', 'settings', 'compliance', 'identity']);

/**
 * Returns the key by which faults find a field: `newpassword` for the label `New password` and for the field `newPassword`. A
 * pointer such as `/spec/ingress/0` is a key itself, of all that is below it.
 */
export function fieldKey(text: string): string {
  return isPointer(text) ? text : text.replaceAll(/[^A-Za-z0-9]/g, '').toLowerCase();
}

/**
 * Returns what is wrong with a field, as sentences; of a list, with the number of the entry. Where one field stands for several of
 * the API, the first of these that has a fault tells it.
 *
 * @param all keys of all fields: a fault below several pointers is of the longest of these
 */
export function faultsOf(
  errors: readonly FieldFault[],
  keys: readonly string[],
  all: readonly string[] = [],
): readonly string[] {
  for (const key of keys) {
    const longer = isPointer(key) ? all.filter((other) => isPointer(other) && other.length > key.length) : [];
    const faults = errors.filter((fault) => isOf(fault, [key]) && !isOf(fault, longer));
    if (faults.length > 0) return faults.map((fault) => faultText(fault, key));
  }
  return [];
}

function faultText({ pointer, detail }: FieldFault, key: string): string {
  const [entry = ''] = isPointer(key) ? pointer.slice(key.length + 1).split('/') : partsOf(pointer).slice(1);
  const text = /^\d+$/.test(entry) ? `Entry ${Number(entry) + 1}: ${detail}` : sentenceCase(detail);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** Whether a fault is of the field with one of these keys. */
export function isOf({ pointer, document }: FieldFault, keys: readonly string[]): boolean {
  const [first = ''] = partsOf(pointer);
  const key = fieldKey(first);
  return (
    document === undefined &&
    keys.some((one) => (isPointer(one) ? `${pointer}/`.startsWith(`${one}/`) : one !== '' && one === key))
  );
}

const isPointer = (text: string) => text.startsWith('/');

const FIRST_DOCUMENT = '/documents/0/';

/** Returns the problem of a manifest of one document as the problem of a form: its errors are of fields and name no document. */
export function ofOneDocument(problem: Problem): Problem {
  const { errors, message, title, code, status, requestId, more } = problem;
  const [document] = errors.map((fault) => fault.document);
  if (!document || errors.some(({ pointer }) => !pointer.startsWith(FIRST_DOCUMENT))) return problem;
  const detail = message.replaceAll(`${document.kind} ${document.name}, ${FIRST_DOCUMENT}`, '/');
  const own = errors.map((fault) => ({
    pointer: fault.pointer.slice(FIRST_DOCUMENT.length - 1),
    detail: fault.detail,
  }));
  return new Problem({ ...more, title, detail, code, status, ...(requestId && { requestId }), errors: own });
}

/** Returns where a fault is, in words: `Ingress 1, peer selector` for `/spec/ingress/0/peerSelector`. */
export function placeText({ pointer, document }: FieldFault): string {
  const places: string[] = [];
  for (const part of partsOf(pointer)) {
    const last = places.at(-1);
    if (/^\d+$/.test(part) && last !== undefined) places[places.length - 1] = `${last} ${Number(part) + 1}`;
    else places.push(wordsOf(part));
  }
  const words = sentenceCase(places.join(', '));
  return document ? [document.kind, document.name, words && `(${words})`].filter(Boolean).join(' ') : words;
}

function partsOf(pointer: string): readonly string[] {
  const unescaped = (part: string) => part.replaceAll('~1', '/').replaceAll('~0', '~');
  const parts = pointer
    .split('/')
    .filter((part) => part !== '')
    .map(unescaped);
  const first = parts.findIndex((part) => !CONTAINERS.has(part));
  return first === -1 ? parts : parts.slice(first);
}

/** `peerSelector` and `peer_selector` as `peer selector`; a label such as `mesh.internal/agent` stays. */
function wordsOf(name: string): string {
  if (name.includes('.') || name.includes('/')) return name;
  return name
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase();
}

function sentenceCase(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
