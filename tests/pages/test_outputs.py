"""A report on several outputs names each, and one on a single output is as it was before there were several."""

from grader.pages.pages import student_page
from grader.results.result import Detail
from tests.pages import samples


def test_each_wrong_output_has_a_map_and_figures_of_its_own() -> None:
    page = " ".join(student_page(samples.several_outputs()).split())
    for text in ("Worst element <code class=\"size\">out[200, 300]</code>", "<b>Where out is wrong in 512x384.</b>",
                 "<b>Where out begins to be wrong in 512x384.</b>",
                 "<b>scale</b>: 1 of 9 elements is wrong. Worst element <code class=\"size\">scale[3]</code>",
                 "<b>Where scale is wrong in 512x384.</b> 1 of 9 squares", "<small>scale</small>", "scale: 1 of 9",
                 "<b>state</b>: 8 of 16 elements were left as they were. Worst element", "</i> left as it was</li>",
                 "<b>count</b>: All 9 elements were never written.</li>", "<b>rest</b>: right."):
        assert text in page, text
    assert page.count("Stripes and blocks point at") == 1 and page.count('<i class="swatch hatch">') == 2
    assert "Where count is wrong" not in page and "Where rest" not in page
    # Of a single output nothing needs its name.
    single = student_page(samples.typical())
    assert "<b>Where 512x384 is wrong.</b>" in single and "<small>out</small>" not in single


# A check's detail as it was kept before there were several outputs.
FORMER = ('{"kind":"wrong_values","message":"2 of 6 elements are wrong.","hint":"","guess":"","pattern":"","fits":[],'
          '"place":null,"traceback":"","output":"","wrong":2,"total":6,"unwritten":1,"worst":{"index":[0,2],"got":"1",'
          '"expected":"2","error":"1","allowed":"0.5"},"error_map":{"output_shape":[2,3],"cell_shape":[1,1],'
          '"cells":["..9","u.."]},"corner":null}')


def test_a_detail_of_one_output_is_read_and_written_as_before() -> None:
    detail = Detail.model_validate_json(FORMER)
    assert detail.model_dump_json() == FORMER and detail.about == "out"
    (figures,) = detail.wrong_outputs
    assert (figures.wrong, figures.unwritten, figures.worst, figures.kept) == (2, 1, detail.worst, False)
    made = samples.typical()
    check = next(check for check in made.assignments["transpose"].correctness.checks if check.detail)
    check.detail = detail
    page = " ".join(student_page(made).split())
    assert "1 of 6 squares hold a wrong element, 1 an element never written." in page and "out[0, 2]" in page
