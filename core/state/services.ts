import type { CallContext } from '../base/operation.ts';
import type { RunComputation } from '../compute/computation.ts';
import type { IssuerClient } from '../model/issuers.ts';
import type { OAuthRequests } from '../model/oauth-requests.ts';
import type { PasskeyVerifier } from '../model/passkeys.ts';
import type { BaseServices } from '../model/services.ts';
import type { SignInRequests } from '../model/sign-in-requests.ts';
import type { UsedOnce } from '../model/used-once.ts';
import type { NetworkStates } from './states.ts';

/** With the states of networks, now and at any revision. */
export interface NetworkServices extends BaseServices {
  readonly states: NetworkStates;
  readonly computed: RunComputation<ThreadServices>;
  /** Requests of OAuth clients that wait for a person. */
  readonly oauthRequests: OAuthRequests;
  /** Those of command lines that a person signs in by a browser. */
  readonly signInRequests: SignInRequests;
  /** The protocol with issuers that sign people in. */
  readonly issuers: IssuerClient;
  readonly usedOnce: UsedOnce;
  readonly passkeys: PasskeyVerifier;
}

/** Services of a computation: those that a computing thread has too. */
export type ThreadServices = Pick<BaseServices, 'store' | 'clock' | 'log' | 'settings' | 'liveness' | 'logs'> & {
  readonly states: NetworkStates;
};

/** With what the network is read, now and in the past. */
export type HistoryServices = Pick<NetworkServices, 'store' | 'states' | 'clock'>;

/** With what peers come, are heard of, and go. */
export type PeerServices = HistoryServices & Pick<NetworkServices, 'liveness'>;

/** A call that reads and writes records, and asks no more of the network. */
export type StoreCall = CallContext<Pick<NetworkServices, 'store'>>;

/** A call by which peers change, or go. */
export type PeerCall = CallContext<PeerServices>;
