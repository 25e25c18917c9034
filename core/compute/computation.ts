/**
 * Work on the network of one workspace that takes time which grows with it. Input and output are plain data, so that a
 * computing thread can do it.
 */
export interface Computation<Services, Input, Output> {
  readonly name: string;
  readonly run: (services: Services, workspace: string, input: Input) => Promise<Output>;
}

/** For whom: places in the queue are shared by workspace, and then by caller. */
export interface ComputationRequest {
  readonly workspace: string;
  /** The principal whose queue slot the call takes, see `principalOf`. */
  readonly principal: string;
  readonly requestId: string;
  /**
   * Set where it is made outside of a turn of its workspace (`withWriteSlot`), so any number at once: it waits as a question does.
   * Else it is the judgement of a write, for which other writes may wait: it goes first.
   */
  readonly isQuestion?: boolean;
}

/** A {@link Computation} that is asked of a thread, as plain data. */
export interface ComputationCall extends ComputationRequest {
  readonly computation: string;
  readonly input: unknown;
}

/**
 * Has a computation done, where that holds nobody up.
 *
 * @throws MeshError of the computation; `unavailable` where it could not be done: nothing may be taken for granted then.
 */
export type RunComputation<Services> = <I, O>(
  computation: Computation<Services, I, O>,
  input: I,
  asker: ComputationRequest,
) => Promise<O>;
