import { Answer } from '../../reach/answer.tsx';
import { askedIn, queryOf } from '../../reach/asked.ts';
import { useSummary } from '../../reach/use-summary.ts';
import { linkTo, route } from '../../route/route.ts';
import { Empty, Page } from '../../ui/page.tsx';
import { ReadResult } from '../../ui/read-result.tsx';
import { Assertions } from './assertions.tsx';
import { Matrix } from './matrix.tsx';
import { Question } from './question.tsx';
import '../../reach/reach.css';
import './reachability.css';

/** Who may reach whom: one question, the matrix by labels, and what must stay true. */
export default function Reachability() {
  const asked = askedIn(route.value.query);
  const { src, dst } = asked;
  const isAsked = src !== '' || dst !== '';
  return (
    <Page title="Reachability">
      <Question asked={asked} />
      {isAsked && (
        <Answer
          key={`answer ${JSON.stringify(asked)}`}
          asked={asked}
          takesFocus
          actions={
            <>
              <a href={linkTo('reachability', [], queryOf({ ...asked, src: dst, dst: src }))}>Other direction</a>
              <a href={linkTo('reachability', [], queryOf({ ...asked, src: '', dst: '', protocol: '', port: '' }))}>
                Clear
              </a>
            </>
          }
        />
      )}
      <MatrixSection />
      <Assertions />
    </Page>
  );
}

function MatrixSection() {
  const loaded = useSummary();
  const isNarrowed = route.value.query.has('label');
  return (
    <section class="stack" aria-label="Matrix">
      <h2>Matrix</h2>
      <ReadResult of={loaded.value}>
        {(summary) =>
          summary.groups.length === 0 && !isNarrowed ? (
            <Empty>
              No devices yet. Add one to see who may reach it.
              <a class="button primary" href={linkTo('join')}>
                Add a device
              </a>
            </Empty>
          ) : (
            <Matrix summary={summary} />
          )
        }
      </ReadResult>
    </section>
  );
}
