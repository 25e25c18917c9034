import type { Scope } from '../../core/base/scope.ts';

/**
 * What the gate answers to one call. `401`, `403`, `404`, `pending` and `password` are its refusals; `own` is a refusal by
 * a rule of the operation about who asks; `no` is a refusal of MCP that does not say why; `yes` is any other answer of the
 * operation itself, whether it found what was named or not.
 */
export type Verdict = 'yes' | 'own' | 'no' | '401' | '403' | '404' | 'pending' | 'password';

/** Who a credential speaks for in the workspace of the table, as it was made: what the expected verdicts follow from. */
export type Standing =
  /** Refused whatever is asked, but for what is public. */
  | { readonly refused: '401' | '403' | 'pending' }
  | {
      readonly kind: 'user' | 'agent' | 'device' | 'enrolment';
      /** In the workspace of the table. */
      readonly scopes: ReadonlySet<Scope>;
      /** In another workspace; none unless set. */
      readonly elsewhere?: ReadonlySet<Scope>;
      /** Of the workspace of the table. `all`: every workspace, without being listed in any. */
      readonly member: boolean | 'all';
      /** A session: a person who logged in. */
      readonly interactive?: true;
      readonly mustChangePassword?: true;
      /** A device that waits for approval. */
      readonly pending?: true;
    };

export interface Identity {
  readonly name: string;
  readonly group: 'People' | 'Machines' | 'Nobody';
  /** What the credential is, for the legend of the table. */
  readonly what: string;
  readonly bearer: string | undefined;
  readonly standing: Standing;
}
