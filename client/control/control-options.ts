import type { Clock, Log } from '../../core/base/ports.ts';
import type { FullGraph } from '../../core/model/graph.ts';
import type { KeyPair } from '../../net/seal/x25519.ts';
import type { NodeConfig } from '../enrol/node-config.ts';
import type { Addresses } from '../lookup.ts';
import type { BusMessage } from './bus.ts';
import type { GraphFile } from './graph-file.ts';
import type { HeartbeatReport } from './heartbeats.ts';
import type { LogWitnessOptions } from './log-witness.ts';
import type { Standing } from './standing.ts';

export interface ControlOptions {
  readonly config: NodeConfig;
  readonly version: string;
  readonly file: Pick<GraphFile, 'read' | 'write' | 'forget'>;
  readonly logFile: LogWitnessOptions['file'];
  readonly busWaitMs: number;
  /** The credential goes to a bus elsewhere without TLS too. */
  readonly busInClear?: boolean;
  /** Finds control plane and bus; left out: by DNS alone. */
  readonly addresses?: Addresses;
  readonly clock: Clock;
  readonly log: Log;
  saveConfig(config: NodeConfig): void;
  /** Another key of this node is in use. */
  onKey?(pair: KeyPair): void;
  onGraph(graph: FullGraph): void;
  onStanding(standing: Standing, detail: string): void;
  /** Takes a message from this node's own signal subject, still sealed. */
  onSignal(message: BusMessage): void;
  onBus(isUp: boolean): void;
  /** Returns the further payload of a heartbeat: changes, or `all` of it. */
  report?(all: boolean): HeartbeatReport;
}
