import type { ComponentType } from 'preact';
import { linkTo, route } from '../../route/route.ts';
import { compliance } from '../../texts/compliance.ts';
import { Page } from '../../ui/page.tsx';
import { PageTabs } from '../../ui/page-tabs.tsx';
import { AssessmentPage } from './assessment/assessment.tsx';
import { Assessments } from './assessments/assessments.tsx';
import './compliance.css';
import { DriftTab } from './drift/drift.tsx';
import { Keys } from './keys/keys.tsx';
import { ReviewPage } from './reviews/review.tsx';
import { Reviews } from './reviews/reviews.tsx';

type TabName = keyof typeof compliance.tabs;

/** `#/<workspace>/compliance/<tab>`, and one of it: `…/assessments/<evidence id>`, `…/reviews/<id>`. */
const TABS: Record<TabName, { readonly All: ComponentType; readonly One?: ComponentType<{ id: string }> }> = {
  assessments: { All: Assessments, One: AssessmentPage },
  drift: { All: DriftTab },
  reviews: { All: Reviews, One: ReviewPage },
  keys: { All: Keys },
};

export default function Compliance() {
  const names = Object.keys(TABS) as TabName[];
  const [tab, id] = route.value.rest;
  const current = names.find((name) => name === tab) ?? 'assessments';
  const { All, One } = TABS[current];
  const tabs = names.map((name) => ({ name, title: compliance.tabs[name], href: linkTo('compliance', [name]) }));
  return (
    <Page title={compliance.title}>
      <PageTabs label={compliance.title} tabs={tabs} current={current} />
      {One && id ? <One key={id} id={id} /> : <All key={current} />}
    </Page>
  );
}
