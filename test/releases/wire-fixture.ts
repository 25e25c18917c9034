import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { gunzipSync } from 'node:zlib';
import type { ControlLink } from '../../client/control/control-link.ts';
import type { enrol } from '../../client/enrol/enrol.ts';
import type { Opener } from '../../net/seal/opener.ts';
import type { Sealer } from '../../net/seal/sealer.ts';
import type { SignalExchange } from '../../net/signal/exchange.ts';

/** The node's half of the wire as a release has it. It takes what this version gives it, and more than it knows. */
export interface ReleasedNode {
  readonly enrol: typeof enrol;
  readonly ControlLink: typeof ControlLink;
  readonly SignalExchange: typeof SignalExchange;
  readonly Opener: typeof Opener;
  readonly Sealer: typeof Sealer;
}

/** What a node and a control plane of a release said to each other. */
export interface WireRecord {
  readonly node: {
    readonly id: string;
    readonly workspaceId: string;
    /** Base64, as the next. */
    readonly controlKey: string;
    readonly privateKey: string;
  };
  readonly http: readonly SaidOverHttp[];
  readonly bus: readonly SaidOverTheBus[];
}

export interface SaidOverHttp {
  /** Method and path. */
  readonly call: string;
  readonly sent?: Readonly<Record<string, unknown>>;
  readonly status: number;
  readonly answer: Readonly<Record<string, unknown>>;
}

export interface SaidOverTheBus {
  readonly subject: string;
  readonly reply?: string;
  /** Sealed, base64. */
  readonly data: string;
}

/** Where packages that it imports are found. */
const CACHE = path.resolve(import.meta.dirname, '../../node_modules/.cache/releases');

export async function loadNode(version: string): Promise<ReleasedNode> {
  mkdirSync(CACHE, { recursive: true });
  const file = path.join(CACHE, `node-${version}.mjs`);
  writeFileSync(file, unpacked(version, 'node.mjs'));
  return import(pathToFileURL(file).href);
}

export function wireOf(version: string): WireRecord {
  return JSON.parse(unpacked(version, 'wire.json').toString());
}

function unpacked(version: string, name: string): Uint8Array {
  return gunzipSync(readFileSync(path.join(import.meta.dirname, version, `${name}.gz`)));
}
