import type { PolicySpec } from './policy.ts';
import type { NetworkSpec } from './resources.ts';

/**
 * A typed change of the network, the one form in which policy writes, applied YAML, plans and workflows speak.
 * Labels and the network of a peer decide access, so their change is a change like any other (DESIGN 5.1).
 */
export type NetworkChange =
  | {
      readonly action: 'create' | 'update';
      readonly resource: 'MeshPolicy';
      readonly name: string;
      readonly spec: PolicySpec;
      readonly labels?: Readonly<Record<string, string>>;
      readonly annotations?: Readonly<Record<string, string>>;
    }
  | {
      readonly action: 'create' | 'update';
      readonly resource: 'MeshNetwork';
      readonly name: string;
      readonly spec: NetworkSpec;
      readonly labels?: Readonly<Record<string, string>>;
      readonly annotations?: Readonly<Record<string, string>>;
    }
  | {
      readonly action: 'update';
      readonly resource: 'MeshPeer';
      readonly name: string;
      readonly labels?: Readonly<Record<string, string>>;
      readonly network?: string;
    }
  | { readonly action: 'delete'; readonly resource: 'MeshPolicy' | 'MeshNetwork'; readonly name: string };
