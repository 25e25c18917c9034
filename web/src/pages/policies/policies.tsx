import { route } from '../../route/route.ts';
import './policies.css';
import { PolicyList } from './policy-list.tsx';
import { NewPolicy, PolicyPage } from './policy-page.tsx';
import { Tests } from './tests.tsx';

/** `#/…/policies`, `#/…/policies/<name>`, `#/…/policies?view=new`, `#/…/policies?view=tests`. */
export default function Policies() {
  const { rest, query } = route.value;
  const [name] = rest;
  if (name !== undefined) return <PolicyPage key={name} name={name} />;
  switch (query.get('view')) {
    case 'new':
      return <NewPolicy />;
    case 'tests':
      return <Tests />;
    default:
      return <PolicyList />;
  }
}
