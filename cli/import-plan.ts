import type { FileResource } from '../core/history/export.ts';
import { containsRange, parseAddress, parseCidr } from '../core/model/cidr.ts';
import { readsAsPeerId, unknownPeers } from '../core/model/peer-lists.ts';
import { normalizeName } from '../core/model/resources.ts';
import { nameOf } from './resource-files.ts';

/** The part of an export that a workspace can take, given the devices that have joined it. */
export interface ImportPlan {
  readonly documents: readonly unknown[];
  /** Where each stands among those that were read. */
  readonly indexes: readonly number[];
  /** Peers of the files that have not joined. */
  readonly missing: readonly FilePeer[];
  /** Peers that policies list, and that have not joined. Such a policy cannot be stored: it would mean somebody else, or nobody. */
  readonly listed: readonly { readonly policy: string; readonly peer: string }[];
  /** Peers with another key than in the files: another device, or the same one set up anew. */
  readonly otherKeys: readonly string[];
}

type Labels = Readonly<Record<string, string>>;

export interface FilePeer {
  readonly name: string;
  readonly labels: Labels;
  readonly network: string | undefined;
  readonly publicKey: string | undefined;
  readonly address: string | undefined;
}

const fold = (name: string) => normalizeName(name).toLowerCase();

/** @param there the peers of the workspace, as an export of it has them */
export function planImport(read: readonly unknown[], there: readonly FileResource[]): ImportPlan {
  const joined = new Map(peersIn(there).map((peer) => [fold(peer.name), peer]));
  const peers = new Map(peersIn(read).map((peer) => [fold(peer.name), peer]));
  const missing = [...peers].flatMap(([name, peer]) => (joined.has(name) ? [] : [peer]));
  const otherKeys = [...peers].flatMap(([name, { publicKey }]) => {
    const held = joined.get(name);
    return held && publicKey !== undefined && held.publicKey !== publicKey ? [held.name] : [];
  });
  const ids = {
    idOf: (text: string) => (readsAsPeerId(text) || joined.has(fold(text)) ? text : undefined),
    names: () => [],
  };
  const listed = read.flatMap((document) => {
    const { kind, name } = nameOf(document);
    if (kind !== 'MeshPolicy') return [];
    const { spec } = document as { spec?: unknown };
    const unknown = new Set(unknownPeers(spec, ids).map(({ path }) => String(valueAt(spec, path))));
    return [...unknown].map((peer) => ({ policy: name, peer }));
  });
  const taken = read.flatMap((document, index) => {
    const peer = peers.get(fold(nameOf(document).name));
    if (!isPeer(document) || !peer) return [{ document, index }];
    return joined.has(fold(peer.name)) ? [{ document: documentOf(document, peer), index }] : [];
  });
  return {
    documents: taken.map(({ document }) => document),
    indexes: taken.map(({ index }) => index),
    missing,
    listed,
    otherKeys,
  };
}

function isPeer(document: unknown): document is { readonly apiVersion: unknown; readonly kind: 'MeshPeer' } {
  return nameOf(document).kind === 'MeshPeer';
}

/** Labels and network: the rest is the device's own. */
function documentOf({ apiVersion, kind }: { apiVersion: unknown; kind: unknown }, peer: FilePeer): unknown {
  const { name, labels, network } = peer;
  return { apiVersion, kind, metadata: { name, labels }, ...(network !== undefined && { spec: { network } }) };
}

interface PeerDocument {
  readonly metadata?: { readonly labels?: Labels };
  readonly spec?: { readonly network?: string; readonly publicKey?: string };
  readonly status?: { readonly address?: string };
}

export function peersIn(documents: readonly unknown[]): FilePeer[] {
  return documents.filter(isPeer).map((document) => {
    const { metadata, spec, status } = document as PeerDocument;
    return {
      name: nameOf(document).name,
      labels: metadata?.labels ?? {},
      network: spec?.network,
      publicKey: spec?.publicKey,
      address: status?.address,
    };
  });
}

function valueAt(value: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce((inner, key) => (inner as Readonly<Record<string | number, unknown>>)[key], value);
}

/**
 * Peers that an address meant in one of the policies, and means no more, or the other way round: they have another address
 * than they had. As sentences.
 */
export function movedPeers(read: readonly unknown[], there: readonly FileResource[]): string[] {
  const now = new Map(peersIn(there).map((peer) => [fold(peer.name), peer.address]));
  const moved = peersIn(read).flatMap(({ name, address }) => {
    const is = now.get(fold(name));
    return address !== undefined && is !== undefined && is !== address ? [{ name, was: address, is }] : [];
  });
  const blocks = read.flatMap((document) => {
    const { kind, name } = nameOf(document);
    return kind === 'MeshPolicy' ? blocksIn(document).map((block) => ({ name, block })) : [];
  });
  return moved.flatMap(({ name, was, is }) => {
    const policies = new Set(
      blocks.flatMap(({ name: policy, block }) => (holds(block, was) === holds(block, is) ? [] : [policy])),
    );
    if (policies.size === 0) return [];
    return [
      `${name} had ${was} and has ${is}: ${[...policies].join(', ')} mean${policies.size === 1 ? 's' : ''} one of the two by its address`,
    ];
  });
}

interface Block {
  readonly cidr: string;
  readonly except?: readonly string[];
}

function blocksIn(value: unknown): Block[] {
  if (typeof value !== 'object' || value === null) return [];
  const inner = Object.entries(value).flatMap(([key, each]) => (key === 'ipBlock' ? [each as Block] : blocksIn(each)));
  return inner;
}

function holds({ cidr, except = [] }: Block, address: string): boolean {
  const own = parseAddress(address);
  const isIn = (text: string) => {
    const range = parseCidr(text);
    return own !== undefined && range !== undefined && range.family === own.family && containsRange(range, own);
  };
  return isIn(cidr) && !except.some(isIn);
}
