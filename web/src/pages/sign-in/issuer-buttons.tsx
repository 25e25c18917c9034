import { type Issuer, signInBy } from '../../api/issuers.ts';
import { useAct } from '../../ui/act.ts';
import { ProblemNotice } from '../../ui/problem.tsx';

/** One button for each issuer that signs people in. */
export function IssuerButtons({ issuers, stays }: { issuers: readonly Issuer[]; stays: () => boolean }) {
  const { isActing, problem, act } = useAct();
  return (
    <div class="stack">
      {issuers.map((issuer) => (
        <button
          key={issuer.name}
          type="button"
          disabled={isActing.value}
          onClick={() => act(() => signInBy(issuer, stays()))}
        >
          Sign in with {issuer.title}
        </button>
      ))}
      <ProblemNotice problem={problem.value} />
    </div>
  );
}
