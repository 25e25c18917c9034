import { MeshError } from '../../core/base/errors.ts';
import type { PeerOverRange, Question } from '../../core/history/pair/question-reader.ts';
import type { PeerRecord } from '../../core/model/resources.ts';
import { withNames } from '../../core/model/with-nearest.ts';
import { peer } from '../../test/kits/records/records.ts';
import { questionReader } from './reader.ts';

/** A Wednesday, 12:00 UTC. */
export const NOW = Date.UTC(2026, 0, 7, 12);

interface Seen {
  readonly isThere?: boolean;
  readonly before?: readonly PeerRecord[];
}

function known(record: PeerRecord, { isThere = true, before = [] }: Seen = {}): PeerOverRange {
  const versions = [...before, record];
  return { peer: record, isThere, names: [...new Set(versions.map(({ name }) => name))], versions };
}

const one = (name: string, labels: Record<string, string>, address: string) =>
  peer(name, { uid: `p_${name}`, labels, address });

export const PEERS: readonly PeerOverRange[] = [
  known(one('web-1', { role: 'web', env: 'prod' }, '10.96.0.1')),
  known(one('web-2', { role: 'web', env: 'prod' }, '10.96.0.2')),
  known(one('web-9', { role: 'web', env: 'staging' }, '10.96.0.9')),
  known(one('db-1', { role: 'db', env: 'prod' }, '10.96.0.3')),
  known(one('ci-runner-1', { role: 'ci' }, '10.96.0.4')),
  known(one('ci-runner-2', { role: 'ci' }, '10.96.0.5')),
  known(one('ana-laptop', { owner: 'ana' }, '10.96.0.6')),
  known(one('bo-laptop', { owner: 'bo' }, '10.96.0.7')),
  // Was called cache-1 and labeled role=cache.
  known(one('redis-main', { role: 'store' }, '10.96.0.8'), {
    before: [one('cache-1', { role: 'cache' }, '10.96.0.8')],
  }),
];

export function read(question: string, timeZone = 'UTC') {
  const { time, about } = questionReader.read(question, NOW, timeZone);
  return { time, asked: about(PEERS) };
}

const named = (end: { readonly peers: readonly { readonly name: string }[] } | undefined) =>
  end?.peers
    .map(({ name }) => name)
    .sort()
    .join(' ');

export function shown(asked: Question): string {
  const scope = `${asked.protocol ?? ''}${asked.port === undefined ? '' : ` ${asked.port}`}`.trim();
  const what =
    asked.about === 'connection'
      ? `${named(asked.src)} > ${named(asked.dst)}`
      : asked.about === 'reach'
        ? `${named(asked.src) ?? '?'} > ${named(asked.dst) ?? '?'}`
        : 'changes';
  return scope === '' ? what : `${what} on ${scope}`;
}

/** With the names that only who may list them is told. */
export function told<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw error instanceof MeshError ? withNames(error, () => true) : error;
  }
}
