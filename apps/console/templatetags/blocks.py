"""Tags of templates for what many pages of the console have: tables, panels with a form, forms of one button, keys."""

from typing import Any

from django.db.models import Model
from django.forms import BoundField
from django.template import Context, Engine, Library, Node, NodeList
from django.template.backends.utils import csrf_input
from django.template.base import FilterExpression, Parser, TextNode, Token, VariableNode, token_kwargs
from django.template.context import RequestContext
from django.template.defaulttags import ForNode
from django.template.loader_tags import BlockNode
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import Truncator

from apps.console.paging import KeysetPage, ListPage
from apps.console.templatetags.console import icon, url_with
from apps.memories.models import Memory

register = Library()


@register.simple_tag(takes_context=True)
def page_url(context: RequestContext, name: str, *arguments: Any) -> str:
    """Return the address of a page of the project that is visited."""
    return reverse(f"console:{name}", args=[context["visit"].project.slug, *arguments])


@register.simple_tag(takes_context=True)
def memory_link(
    context: RequestContext, memory: Memory, most: int = 0, *, kind: str = "said", opens_row: bool = False
) -> SafeString:
    """Return a link to a memory with its sentence, of which at most so many characters; its class is `kind`."""
    text = Truncator(memory.content).chars(most) if most else memory.content
    how = mark_safe(" data-open-row") if opens_row else ""
    return format_html(
        '<a class="{}" hx-disable{} href="{}">{}</a>', kind, how, page_url(context, "memory", memory.pk), text
    )


@register.simple_tag(takes_context=True)
def in_admin(context: RequestContext, row: Model) -> SafeString | str:
    """Return a link of staff to a row among all tables."""
    if not context["request"].user.is_staff:
        return ""
    address = reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_change", args=[row.pk])
    return format_html('<p class="small in-admin"><a href="{}">Show in the admin</a></p>', address)


@register.simple_tag(takes_context=True)
def renewed_on(context: RequestContext, *events: str, select: str = "") -> SafeString:
    """Return the attributes of an element that is loaded anew after an event; `select` finds it in the whole page."""
    return format_html(
        'hx-get="{}" hx-trigger="{}" hx-swap="outerHTML"{}',
        context["request"].get_full_path(),
        ", ".join(f"{event} from:body" for event in events),
        format_html(' hx-select="{}" hx-disinherit="*"', select) if select else "",
    )


@register.inclusion_tag("console/_fields.html")
def fields(*shown: BoundField) -> dict[str, Any]:
    """Show fields of a form with their labels, hints and errors."""
    return {"fields": shown}


@register.inclusion_tag("console/_pager.html", takes_context=True)
def pager(context: Context, page: ListPage | KeysetPage) -> dict[str, Any]:
    """Show links from a page of a list to its neighbours."""
    if isinstance(page, KeysetPage):
        return {
            "previous": page.before and url_with(context, before=page.before, after=""),
            "first": url_with(context, before="", after=""),
            "next": page.after and url_with(context, before="", after=page.after),
        }
    return {
        "previous": page.previous_number and url_with(context, page=page.previous_number),
        "number": page.number,
        "next": page.next_number and url_with(context, page=page.next_number),
    }


@register.tag
def heading(parser: Parser, token: Token) -> "HeadingNode":
    """Set the title of a page, which is its first heading as well; what is inside stands beside that."""
    _, title = token.split_contents()
    beside = parser.parse(("endheading",))
    parser.delete_first_token()
    shown = VariableNode(parser.compile_filter(title))
    head = NodeList([TextNode('<div class="head"><h1>'), shown, TextNode("</h1>"), *beside, TextNode("</div>")])
    return HeadingNode(NodeList([BlockNode("title", NodeList([shown])), BlockNode("heading", head)]))


class HeadingNode(Node):
    """The blocks that a heading fills; the base template shows them."""

    def __init__(self, nodelist: NodeList) -> None:
        self.nodelist = nodelist


@register.tag
def table(parser: Parser, token: Token) -> "TableNode":
    """Show rows in a table that scrolls in a narrow window, or what follows `empty` if there are none.

    `{% table row in page.rows "Work" "State" "#Attempts" page=page %}<tr>…</tr>{% empty %}…{% endtable %}`: the first
    text names the table, the others are headings, of numbers with "#"; one that is a variable without a value is left
    out. `page` adds links to its neighbours.
    """
    _, *bits = token.split_contents()
    place = bits.index("in")
    names = "".join(bits[:place]).split(",")
    source, *words = bits[place + 1 :]
    first_option = next((at for at, word in enumerate(words) if token_kwargs([word], parser)), len(words))
    texts = [parser.compile_filter(word) for word in words[:first_option]]
    options = token_kwargs(words[first_option:], parser)
    row = parser.parse(("empty", "endtable"))
    empty = NodeList()
    if parser.next_token().contents == "empty":
        empty = parser.parse(("endtable",))
        parser.delete_first_token()
    rows = parser.compile_filter(source)
    loop = ForNode(names, rows, is_reversed=False, nodelist_loop=row)
    return TableNode(rows, loop, empty, texts, options)


class TableNode(Node):
    """A table; its rows are those of a loop."""

    child_nodelists = ("empty",)

    def __init__(
        self,
        rows: FilterExpression,
        loop: ForNode,
        empty: NodeList,
        texts: list[FilterExpression],
        options: dict[str, FilterExpression],
    ) -> None:
        self.rows = rows
        self.loop = loop
        self.empty = empty
        self.texts = texts
        self.options = options

    def render(self, context: Context) -> SafeString:
        """Return the table and its links, or what is shown instead."""
        if not self.rows.resolve(context, ignore_failures=True):
            return self.empty.render(context)
        label, *headings = (text.resolve(context, ignore_failures=True) for text in self.texts)
        cells = [
            (mark_safe(' class="number"'), text[1:]) if text.startswith("#") else ("", text)
            for text in headings
            if text is not None
        ]
        options = {name: value.resolve(context) for name, value in self.options.items()}
        shown = format_html(
            '<div class="{}" tabindex="0" role="region" aria-label="{}">'
            '<table class="{}"><thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>',
            f"{options.get('within', '')} scroll".strip(),
            label,
            options.get("class", "list stacks"),
            format_html_join("", "<th{}>{}</th>", cells),
            self.loop.render(context),
        )
        if "page" not in options:
            return shown
        links = Engine.get_default().get_template("console/_pager.html")
        return shown + links.render(context.new(pager(context, options["page"])))


@register.simple_block_tag(takes_context=True, end_name="endpost")
def post(context: RequestContext, content: SafeString, name: str, *arguments: Any, **attributes: str) -> SafeString:
    """Show a form that is posted to a page of the project, with `query` added to its address."""
    address = page_url(context, name, *arguments) + attributes.pop("query", "")
    shown = format_html_join("", ' {}="{}"', attributes.items())
    token = csrf_input(context["request"])
    return format_html('<form method="post" action="{}"{}>{}{}</form>', address, shown, token, content)


@register.simple_block_tag(takes_context=True, end_name="endbulk")
def bulk(context: RequestContext, content: SafeString, name: str) -> SafeString:
    """Show the bar for the selected memories of a list, whose buttons are inside; they are posted to a page."""
    return format_html(
        '<form id="many" class="bulk line card" data-bulk aria-label="Selected memories" hx-post="{}"'
        ' hx-target="#toasts" hx-swap="beforeend"><label><input type="checkbox" data-select-all> Select all</label>'
        '<div class="line grow bulk-actions"><strong><span data-bulk-count>0</span> selected</strong>{}</div></form>',
        page_url(context, name),
        content,
    )


@register.simple_block_tag(end_name="endpanel")
def panel(
    content: SafeString, label: str, key: str, *, post: str = "", group: str = "decide", **look: str
) -> SafeString:
    """Show a button that unfolds what is inside, which is a form if `post` says where to; one of a group is open."""
    if post:
        content = format_html('<form class="{}" hx-post="{}">{}</form>', look.get("class", "stack"), post, content)
    return format_html(
        '<details class="panel"{}><summary class="button" data-key="{}">{} {} <kbd>{}</kbd></summary>{}</details>',
        format_html(' name="{}"', group) if group else "",
        key,
        icon(look["icon"]) if "icon" in look else "",
        label,
        key,
        content,
    )


@register.simple_tag
def keys(*lines: str) -> SafeString:
    """Return entries of the keyboard help, each from a text like "j k: next, previous"."""
    rows = []
    for line in lines:
        names, _, text = line.partition(": ")
        rows.append((format_html_join(" ", "<kbd>{}</kbd>", ((name,) for name in names.split())), text))
    return format_html_join("", "<dt>{}</dt><dd>{}</dd>", rows)
