"""What no linter knows of infra/: the CDK's stack is the template's, and the ECS task is one that AWS would take."""

import json
import sys

import botocore.session
import botocore.validate
from samtranslator.yaml_helper import yaml_parse

# What only one of the two knows: where the code is, and that the CDK took part.
CODE = {"CodeUri"}


def plain(resource):
    """A resource without what the CDK adds to it, and without its code."""
    resource = {key: value for key, value in resource.items() if key != "Metadata"}
    properties = resource.get("Properties", {})
    resource["Properties"] = {key: value for key, value in properties.items() if key not in CODE}
    return resource


def one_spelling(value):
    """CloudFormation takes `5` and `"5"` alike, and `A.Arn` and `[A, Arn]`; the CDK writes some as the other."""
    if isinstance(value, dict):
        value = {key: one_spelling(item) for key, item in value.items()}
        attribute = value.get("Fn::GetAtt")
        return {"Fn::GetAtt": attribute.split(".", 1)} if isinstance(attribute, str) else value
    if isinstance(value, list):
        return [one_spelling(item) for item in value]
    return value if isinstance(value, (str, bool)) else str(value)


def stack(path):
    """The CDK's stack holds every section and resource of the template as it is."""
    with open("template.yaml", encoding="utf-8") as file:
        template = yaml_parse(file.read())
    with open(path, encoding="utf-8") as file:
        synthesized = json.load(file)
    for name, resource in template["Resources"].items():
        found = synthesized["Resources"].get(name)
        if found is None:
            yield f"the CDK's stack has no {name}"
        elif one_spelling(plain(found)) != one_spelling(plain(resource)):
            yield f"the CDK's stack has another {name} than template.yaml"
    for section in ("Parameters", "Rules", "Conditions", "Outputs"):
        for name in template[section]:
            if name not in synthesized.get(section, {}):
                yield f"the CDK's stack has no {name} among its {section}"


def task():
    """The ECS task definition has the fields that the service knows, in the shapes it wants."""
    with open("infra/ecs/task-definition.json", encoding="utf-8") as file:
        definition = json.load(file)
    model = botocore.session.get_session().get_service_model("ecs")
    shape = model.operation_model("RegisterTaskDefinition").input_shape
    report = botocore.validate.ParamValidator().validate(definition, shape)
    if report.has_errors():
        yield f"infra/ecs/task-definition.json: {report.generate_report()}"


problems = [*stack(sys.argv[1]), *task()]
for problem in problems:
    print(problem)
sys.exit(1 if problems else 0)
