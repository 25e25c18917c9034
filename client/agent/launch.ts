import type { HostPort } from '../../net/host-port.ts';
import type { RelayAddress } from '../../net/relay/address.ts';
import type { Enrolled } from '../enrol/enrol.ts';
import type { Destination } from '../sandbox/destination.ts';
import type { NodeLogLevel } from './node-log.ts';
import type { HostFirewallStatus } from './node-status.ts';

/** A proxy into the overlay, for programs of this host. */
export interface ProxyOptions {
  readonly listen: HostPort;
  /** Any program of this host may use it without the password. */
  readonly isOpen: boolean;
  /** Other addresses are reached from this host, too. */
  readonly isDirect: boolean;
}

export interface NodeOptions {
  readonly directory: string;
  readonly interfaceName: string;
  readonly listenPort: number;
  readonly busWaitMs: number;
  readonly busInClear: boolean;
  readonly level: NodeLogLevel;
  readonly systemLog: boolean;
  /** Names of peers resolve on this host. */
  readonly dns: boolean;
  /** /etc/resolv.conf is written for them where nothing else of the host can be told of names. */
  readonly writesResolvConf?: boolean;
  /** A key that is older is changed, ms; left out: only when someone asks. */
  readonly keyAgeMs?: number;
  /** Another name for this node. */
  readonly name?: string;
  readonly relayOverride?: RelayAddress;
  /** Rules of the host are to let the overlay in. */
  readonly opensHost?: boolean;
  /** CIDRs beyond the private ones that this node routes from now on; left out: as before. */
  readonly acceptRoutes?: readonly string[];
  /** Where a daemon logs; standard output otherwise. */
  readonly logDirectory?: string;
  /** The tunnel ends in this process; left out: as the node was started last. */
  readonly userspace?: boolean;
  /** For a node in userspace mode; left out: none. */
  readonly proxy?: ProxyOptions;
  /** Told once it has come up, or why it has not yet. */
  readonly onStarted?: (greeting: Greeting) => void | Promise<void>;
  /** Told when its end takes longer than it ever should. */
  readonly onStuck: () => void;
}

/** Limits that hold for all processes of a sandbox together. */
export interface SandboxLimits {
  /** Bytes. */
  readonly memory?: number;
  readonly pids?: number;
}

export interface SandboxOptions {
  readonly server: string;
  /** Returns the delegate token: asked for once this host has shown that it can run a sandbox. */
  readonly token: (ending: AbortSignal) => Promise<string>;
  /** Destinations outside of the overlay that its programs may reach. */
  readonly egress: readonly Destination[];
  /** Name of the peer; the name of the sub-agent when left out. */
  readonly name?: string;
  readonly hostname: string;
  /** Told what isolates, for people, before anything is spent. */
  readonly onIsolated: (isolation: string) => void;
  /** Told once it is registered, before it is up. */
  readonly onEnrolled: (enrolled: Enrolled) => void;
  readonly onStarted?: NodeOptions['onStarted'];
  readonly onStuck: NodeOptions['onStuck'];
  readonly busWaitMs: number;
  readonly busInClear: boolean;
  readonly level: NodeLogLevel;
  readonly relayOverride?: RelayAddress;
  /** Command that runs inside; without one the sandbox stays until its time is over. */
  readonly command: readonly string[];
  /** Directory of this host that the command starts in and may write to. */
  readonly workdir?: string;
  /** Paths of this host that it may read. */
  readonly binds: readonly string[];
  readonly limits: SandboxLimits;
  /** Where this host forbids isolation the command runs without it. */
  readonly allowsNoIsolation: boolean;
  /** Names of variables that the command gets beside those of the allow list. */
  readonly env: readonly string[];
}

/** How a node stands once it has started. */
export interface Greeting {
  readonly name: string;
  readonly state: 'up' | 'pending' | 'revoked' | 'removed' | 'away' | 'refused';
  readonly address: string | null;
  readonly interface: string;
  readonly directory: string;
  /** Address of its proxy, in userspace mode. */
  readonly proxy?: string;
  /** Where it was asked to be opened. */
  readonly hostFirewall?: HostFirewallStatus;
  /** The same for people, but for the host's firewall. */
  readonly line: string;
}

/** Why a node ended: its task did, with an exit code; or it was asked to, failed, ran out of time, or is a peer no more. */
export type NodeEnd =
  | { readonly why: 'task'; readonly exitCode: number }
  | { readonly why: 'asked' | 'failed' | 'expired' | 'removed' };

/** Runs nodes, with everything that they need put together. */
export interface NodeLauncher {
  /** Runs the node of a directory until it ends. @throws NodeRefusal when it cannot come up here */
  runNode(options: NodeOptions): Promise<NodeEnd>;
  /** Takes away what agents of a directory left. @returns the interfaces that were there */
  takeAway(directory: string): Promise<readonly string[]>;
  /** Forgets the interfaces that a directory held last, once nothing is left of its node. */
  forget(directory: string): Promise<void>;
  /** Enrols a sub-agent and runs a command as it. @throws NodeRefusal */
  runSandbox(options: SandboxOptions): Promise<NodeEnd>;
}

/**
 * `no-tunnel`: this machine cannot make one. `in-use`: another node has it. `no-program`: the command does not start.
 * `not-written`: its state has no place on this disk, for now.
 */
export type RefusalReason =
  | 'no-tunnel'
  | 'not-configured'
  | 'in-use'
  | 'no-program'
  | 'no-namespace'
  | 'wrong-setting'
  | 'not-written';

/** A node does not run here, for a reason that is no fault of its own. */
export class NodeRefusal extends Error {
  override readonly name = 'NodeRefusal';
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason, message: string) {
    super(message);
    this.reason = reason;
  }
}
